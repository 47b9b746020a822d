#include "backends/os/line_output.h"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace pdsim {
namespace {

constexpr std::size_t longest_line = std::size_t{64} << 10;

// A pipe that can be written to takes this much without waiting, and does not mix it with what others write.
constexpr std::size_t most_at_once = PIPE_BUF;

bool writable(int fd, int ms) {
  pollfd waiting{fd, POLLOUT, 0};
  return poll(&waiting, 1, ms) > 0;
}

// Whole lines where they fit.
std::size_t next_piece(std::string_view text) {
  if (text.size() <= most_at_once) return text.size();
  const std::size_t newline = text.rfind('\n', most_at_once - 1);
  return newline == std::string_view::npos ? most_at_once : newline + 1;
}

}  // namespace

void LineSink::flush_some() {
  std::size_t done = 0;
  while (done < waiting_.size() && !broken_ && writable(fd_, 0)) {
    const std::string_view rest = std::string_view(waiting_).substr(done);
    const ssize_t n = write(fd_, rest.data(), next_piece(rest));
    if (n >= 0) done += static_cast<std::size_t>(n);
    if (n >= 0 || errno == EINTR) continue;
    if (errno == EAGAIN) break;
    broken_ = true;
    if (errno != EPIPE) error_ = errno;
  }
  waiting_.erase(0, broken_ ? std::string::npos : done);
}

void LineSink::drain(const std::function<bool()>& interrupted) {
  constexpr int pause_ms = 50;
  for (flush_some(); !empty() && !interrupted(); flush_some()) (void)writable(fd_, pause_ms);
}

bool LineSource::service(LineSink& to) {
  std::array<char, 65536> chunk;
  if (!pipe_) return false;
  const ssize_t n = read(pipe_.get(), chunk.data(), chunk.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (n <= 0) {
    pipe_.reset();
    if (!part_.empty()) part_ += '\n';
  } else {
    part_.append(chunk.data(), static_cast<std::size_t>(n));
  }
  tell_lines(to);
  return n > 0;
}

void LineSource::finish(LineSink& to) {
  while (service(to)) {
  }
  pipe_.reset();
  if (!part_.empty()) part_ += '\n';
  tell_lines(to);
}

void LineSource::tell_lines(LineSink& to) {
  std::size_t at = 0;
  while (at < part_.size()) {
    const std::size_t newline = part_.find('\n', at);
    if (newline == std::string::npos && part_.size() - at <= longest_line) break;
    const std::size_t end = std::min(newline, at + longest_line);
    to.add(prefix_ + part_.substr(at, end - at) + '\n');
    at = end == newline ? end + 1 : end;
  }
  part_.erase(0, at);
}

}  // namespace pdsim
