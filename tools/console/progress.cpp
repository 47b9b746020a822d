#include "tools/console/progress.h"

#include "core/base/printable.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <unistd.h>

namespace pdsim::tools {

Progress::Progress(std::int64_t total, std::string_view unit)
    : total_(total), unit_(unit), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::at(std::int64_t done, std::string_view doing) {
  if (!terminal_) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const double rate = spent.count() > 0.0 ? static_cast<double>(done) / spent.count() : 0.0;
  std::string line = fmt::format("{} of {} {}", done, total_, unit_);
  if (done > 0 && rate > 0.0)
    line += fmt::format(", {:.0f}/s, {:.0f} s left", rate, static_cast<double>(total_ - done) / rate);
  const std::string shown = printable(doing);
  (void)std::fprintf(stderr, "\r\033[K%s: %.*s", line.c_str(), static_cast<int>(shown.size()), shown.data());
  (void)std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  (void)std::fputs("\r\033[K", stderr);
  (void)std::fflush(stderr);
  shown_ = false;
}

}  // namespace pdsim::tools
