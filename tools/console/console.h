// Where a command writes: results to standard output, problems to standard error, colour only on a terminal.
//
//   closed reader  the rest of the output is dropped in silence (`pdsim list | head -1`), and the command's status
//                  stands
//   full disk      one line on standard error; finish() says so
//   texts          become printable (core/base/printable.h): a name in a file of somebody else's moves no cursor
#pragma once

#include <string>
#include <string_view>

namespace pdsim::tools {

class Console {
 public:
  // `no_color`: the environment's NO_COLOR is set to something, or its TERM is dumb.
  explicit Console(bool no_color);
  bool color() const { return color_; }        // for standard output
  bool terminal() const { return terminal_; }  // is standard output one?
  void print(std::string_view text);
  // The same with the colours that a report put in, after it has made its texts printable.
  void print_coloured(std::string_view text);
  void problem(std::string_view line);  // "pdsim: line" on standard error
  const std::string& last_problem() const { return last_problem_; }
  void say(std::string_view text);  // to standard error: diagnostics
  // Flushes; false when standard output could not take everything, for another reason than that its reader left.
  bool finish();

 private:
  bool terminal_ = false;
  bool color_ = false;
  bool reader_left_ = false;
  int write_error_ = 0;
  std::string last_problem_;
};

}  // namespace pdsim::tools
