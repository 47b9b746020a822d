#include "backends/net/receive_buffer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace pdsim {

ReceiveBuffer::State ReceiveBuffer::fill(int fd, std::size_t most) {
  std::array<char, 1 << 16> block;
  while (most > 0) {
    const ssize_t n = ::recv(fd, block.data(), std::min(block.size(), most), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return State::drained;
    if (n <= 0) return State::closed;
    bytes_.append(block.data(), static_cast<std::size_t>(n));
    most -= static_cast<std::size_t>(n);
  }
  return State::more;
}

void ReceiveBuffer::skip(std::size_t count) {
  used_ += std::min(count, size());
  if (used_ == bytes_.size()) {
    std::string().swap(bytes_);
    used_ = 0;
  } else if (used_ >= bytes_.size() / 2) {
    bytes_.erase(0, used_);
    used_ = 0;
  }
}

}  // namespace pdsim
