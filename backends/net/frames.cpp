#include "backends/net/frames.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace pdsim {
namespace {

constexpr std::size_t header_size = 9;

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
  constexpr std::size_t in_one_go = std::size_t{1} << 20;
  if (broken_) return State::closed;
  const std::size_t most = header_size + most_payload_;
  return buffer_.fill(fd, std::min(in_one_go, most - std::min(most, buffer_.size())));
}

std::optional<Frame> FrameReader::next() {
  const std::string_view bytes = buffer_.bytes();
  if (broken_ || bytes.size() < header_size) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[1 + i])) << (8 * i);
  broken_ = length > most_payload_;
  if (broken_ || bytes.size() < header_size + length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(bytes[0]), std::string(bytes.substr(header_size, length))};
  buffer_.skip(header_size + length);
  return frame;
}

}  // namespace pdsim
