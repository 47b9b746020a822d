// Where a command writes: results to standard output, problems to standard error, colour only on a terminal.
//
//   closed reader  the rest of the output is dropped in silence (`pdsim list | head -1`), and the command's status
//                  stands
//   full disk      one line on standard error; finish() says so
//   --json         standard output is for objects alone: answer_in_json() has the problems kept, and end() prints them as one object
//                  where the command has printed none of its own (docs/json.md)
//   texts          become printable (core/base/printable.h): a name in a file of somebody else's moves no cursor
#pragma once

#include "scenarios/text/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// A file's error or warning, or a sentence alone, as --json prints it.
struct Problem {
  std::string file;
  scenarios::Diagnostic diagnostic;
};

class Console {
 public:
  // `no_color`: the environment's NO_COLOR is set to something, or its TERM is dumb.
  explicit Console(bool no_color);
  bool color() const { return color_; }        // for standard output
  bool terminal() const { return terminal_; }  // is standard output one?
  void print(std::string_view text);
  // The same with the colours that a report put in, after it has made its texts printable.
  void print_coloured(std::string_view text);
  // "pdsim: line" on standard error, and the hint as another line.
  void problem(std::string_view line, std::string_view hint = {});
  const std::string& last_problem() const { return last_problem_; }
  // The same of a file: with its line and a caret. `text` is what the file holds.
  void problem(std::string_view file, std::string_view text, const scenarios::Diagnostic& diagnostic);
  // The same, rendered already.
  void problem(std::string_view rendered, Problem kept);
  void say(std::string_view text);  // to standard error

  void answer_in_json(std::string command) { command_ = std::move(command); }
  bool answers_in_json() const { return !command_.empty(); }
  // Another process answers, on the same standard output.
  void leave_answer() { printed_ = true; }
  // What the command came to, before finish(): prints the object of problems where it is due.
  void end(int status);
  // Flushes; false when standard output could not take everything, for another reason than that its reader left.
  bool finish();

 private:
  bool terminal_ = false;
  bool color_ = false;
  bool reader_left_ = false;
  int write_error_ = 0;
  std::string last_problem_;
  std::string command_;  // empty: the answer is text
  std::vector<Problem> problems_;
  bool printed_ = false;
};

// Members of a problem in JSON, as docs/json.md has them: one object, without a line end.
std::string json_of(const Problem& problem);

}  // namespace pdsim::tools
