#include "tools/console/console.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <unistd.h>

namespace pdsim::tools {

Console::Console(bool no_color) : terminal_(isatty(STDOUT_FILENO) == 1), color_(terminal_ && !no_color) {}

void Console::print(std::string_view text) { print_coloured(printable_lines(text)); }

void Console::print_coloured(std::string_view text) {
  if (reader_left_ || write_error_ != 0) return;
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (whole && (!terminal_ || std::fflush(stdout) == 0)) return;
  if (errno == EPIPE)
    reader_left_ = true;
  else
    write_error_ = errno;
}

void Console::problem(std::string_view line) {
  last_problem_ = line;
  say(fmt::format("pdsim: {}\n", line));
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

}  // namespace pdsim::tools
