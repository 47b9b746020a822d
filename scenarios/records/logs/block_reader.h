// Blocks of several lines: Python's tracebacks, stacks of py-spy, faulthandler and the Flight Recorder, and rows of the
// launcher's table of failed processes. One reader per source, because the lines of ranks interleave.
//
//   bounds   most_frames frames of a stack; message_lines lines of an exception's message
#pragma once

#include "scenarios/records/logs/log_facts.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::logs {

class BlockReader {
 public:
  static constexpr std::size_t most_frames = 64;
  static constexpr int message_lines = 8;

  struct Block {
    FactBody body;
    std::optional<std::int64_t> at_ns;  // where the block itself states it
    std::int64_t line = 0;              // its first line; for an exception, the line of its name
  };
  // `headed`: the line has a header of its own, so it belongs to no message. Returns the blocks that ended before or with this
  // line.
  std::vector<Block> read(std::string_view text, bool headed, std::int64_t line);
  // Call it at the end of the log.
  std::vector<Block> finish();

 private:
  enum class In : std::uint8_t { nothing, traceback, message, py_spy, faulthandler, recorder, table };

  bool begins(std::string_view text);
  bool continues(std::string_view text, bool headed);
  void read_table_line(std::string_view text);
  void end(std::vector<Block>& ended);

  In in_ = In::nothing;
  std::int64_t line_ = 0, begun_ = 0;  // the current line, and the block's first line
  Raised raised_;
  int message_left_ = 0;
  Stack stack_;
  std::int64_t pid_ = -1;  // from py-spy's last "Process N:"
  ProcessFailed failed_;
  bool has_failed_ = false, first_ = false;
  std::optional<std::int64_t> failed_at_;
  std::vector<Block> rows_;  // of the table that ended
};

}  // namespace pdsim::scenarios::logs
