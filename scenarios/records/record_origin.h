// The run that a saved record comes from: the first line of events.jsonl. It carries the scenario file's text, so that the record
// can be explained, with the places in the file, after that file has changed or was deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

struct RecordOrigin {
  std::string scenario, variant;
  std::string file;  // as the user named it
  std::string world = "sim";
  std::uint64_t seed = 0;
  std::string source;  // the file's text; empty when it was not kept
  bool operator==(const RecordOrigin&) const = default;
};

// One line, with its end.
std::string origin_line(const RecordOrigin& origin);
// Reads the text of an events.jsonl; nothing when it has no such line.
std::optional<RecordOrigin> origin_from_jsonl(std::string_view text);

}  // namespace pdsim::scenarios
