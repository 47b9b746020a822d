// The output of a command: results to standard output, problems to standard error, colour only on a terminal.
//
//   closed reader  the rest of the output is dropped silently (`pdsim list | head -1`), and the command's status
//                  is unchanged
//   full disk      one line on standard error; finish() reports it
//   --json         standard output is for objects alone: after answer_in_json() problems are kept, and end() prints them as one
//                  object where the command has printed none of its own (docs/json.md)
//   texts          become printable (core/base/printable.h): a name in a foreign file moves no cursor
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
  // `no_color`: the environment's NO_COLOR is not empty, or its TERM is dumb.
  explicit Console(bool no_color);
  bool color() const { return color_; }        // for standard output
  bool terminal() const { return terminal_; }  // is standard output one?
  void print(std::string_view text);
  // The same with the colours of a report, which has already made its texts printable.
  void print_coloured(std::string_view text);
  // "pdsim: line" on standard error, and the hint as another line.
  void problem(std::string_view line, std::string_view hint = {});
  const std::string& last_problem() const { return last_problem_; }
  // The same for a file, where no line is known: "pdsim: FILE: what".
  void problem_of(std::string_view file, std::string_view what);
  // The same for a file: with its line and a caret. `text` is the file's content.
  void problem(std::string_view file, std::string_view text, const scenarios::Diagnostic& diagnostic);
  // The same for a problem that is already rendered.
  void problem(std::string_view rendered, Problem kept);
  void say(std::string_view text);  // to standard error

  void answer_in_json(std::string command) { command_ = std::move(command); }
  bool answers_in_json() const { return !command_.empty(); }
  // Another process prints the answer, on the same standard output.
  void leave_answer() { printed_ = true; }
  // Takes the command's exit status, before finish(): prints the object of problems if one is due.
  void end(int status);
  // Flushes; false when standard output could not take everything, for a reason other than a reader that left.
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

// Members of a problem in JSON, as in docs/json.md: one object, without a newline.
std::string json_of(const Problem& problem);

}  // namespace pdsim::tools
