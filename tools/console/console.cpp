#include "tools/console/console.h"

#include "core/base/printable.h"
#include "scenarios/text/printable_json.h"
#include "tools/command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <unistd.h>

namespace pdsim::tools {

Console::Console(bool no_color) : terminal_(isatty(STDOUT_FILENO) == 1), color_(terminal_ && !no_color) {}

void Console::print(std::string_view text) { print_coloured(printable_lines(text)); }

void Console::print_coloured(std::string_view text) {
  printed_ = true;
  if (reader_left_ || write_error_ != 0) return;
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && (!terminal_ || std::fflush(stdout) == 0)) return;
  if (errno == EPIPE)
    reader_left_ = true;
  else
    write_error_ = errno;
}

void Console::problem(std::string_view line, std::string_view hint) {
  last_problem_ = line;
  say(fmt::format("pdsim: {}\n", line));
  if (!hint.empty()) say(fmt::format("pdsim: {}\n", hint));
  problems_.push_back({{}, {false, std::string(line), {}, std::string(hint)}});
}

void Console::problem_of(std::string_view file, std::string_view what) {
  problem(fmt::format("pdsim: {}: {}\n", file, what), {std::string(file), {false, std::string(what), {}, {}}});
}

void Console::problem(std::string_view file, std::string_view text, const scenarios::Diagnostic& diagnostic) {
  problem(scenarios::render(file, text, diagnostic), {std::string(file), diagnostic});
}

void Console::problem(std::string_view rendered, Problem kept) {
  say(rendered);
  problems_.push_back(std::move(kept));
}

void Console::end(int status) {
  if (command_.empty() || printed_ || status < exit_wrong_input) return;
  std::string list;
  for (const Problem& one : problems_) list += (list.empty() ? "" : ",") + json_of(one);
  print(fmt::format(R"({{"version":{},"command":"{}","status":{},"problems":[{}]}})", scenarios::json_version, command_, status, list) + "\n");
}

void Console::say(std::string_view text) {
  const std::string shown = printable_lines(text);
  (void)std::fwrite(shown.data(), 1, shown.size(), stderr);
}

bool Console::finish() {
  errno = 0;
  if (std::fflush(stdout) != 0 && write_error_ == 0 && errno != EPIPE) write_error_ = errno;
  if (write_error_ == 0) return true;
  problem(fmt::format("cannot write to standard output: {}", std::generic_category().message(write_error_)));
  return false;
}

std::string json_of(const Problem& problem) {
  const scenarios::Diagnostic& d = problem.diagnostic;
  nlohmann::ordered_json json{{"severity", d.warning ? "warning" : "error"}, {"message", d.what}};
  if (!problem.file.empty()) json["file"] = problem.file;
  if (d.mark.line > 0) json.update({{"line", d.mark.line}, {"column", d.mark.column}, {"width", d.mark.width}});
  if (!d.label.empty()) json["hint"] = d.label;
  if (d.cause) {
    const scenarios::Mark& at = d.cause->mark;
    json["cause"] = {{"file", d.cause->file}, {"line", at.line}, {"column", at.column}, {"width", at.width}};
    if (!d.cause->label.empty()) json["cause"]["hint"] = d.cause->label;
  }
  return scenarios::printable_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace pdsim::tools
