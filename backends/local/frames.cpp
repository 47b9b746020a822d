#include "backends/local/frames.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace pdsim {
namespace {

constexpr std::size_t header_size = 9;
constexpr std::uint64_t length_limit = std::uint64_t{1} << 30;

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

bool write_frame(int fd, FrameKind kind, std::string_view payload) {
  std::string header(1, static_cast<char>(kind));
  for (int i = 0; i < 8; ++i) header += static_cast<char>((payload.size() >> (8 * i)) & 0xff);
  return send_all(fd, header) && send_all(fd, payload);
}

FrameReader::State FrameReader::fill(int fd) {
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t n = recv(fd, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n > 0) {
      bytes_.append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      continue;
    } else {
      return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && !broken_ ? State::open : State::closed;
    }
  }
}

std::optional<Frame> FrameReader::next() {
  if (broken_ || bytes_.size() < header_size) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[1 + i])) << (8 * i);
  broken_ = length > length_limit;
  if (broken_ || bytes_.size() < header_size + length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(bytes_[0]), bytes_.substr(header_size, length)};
  bytes_.erase(0, header_size + length);
  return frame;
}

}  // namespace pdsim
