// ReceiveBuffer: unused bytes read from a non-blocking socket. Every reader of a protocol here has one.
//
//   memory   grows with the received bytes, never with a length that the peer declares; an empty buffer holds none
//   work     linear in the bytes: used bytes are skipped, and moved away when they are at least half of the buffer
//   threads  one owner
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim {

class ReceiveBuffer {
 public:
  // more: the limit was reached, and there may be more bytes. drained: no more bytes for now. closed: the peer sends no more.
  enum class State : std::uint8_t { more, drained, closed };
  // Reads at most `most` bytes, without waiting. On closed, earlier bytes are still available.
  State fill(int fd, std::size_t most);

  std::string_view bytes() const { return std::string_view(bytes_).substr(used_); }
  std::size_t size() const { return bytes_.size() - used_; }
  void skip(std::size_t count);  // at most size()

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

}  // namespace pdsim
