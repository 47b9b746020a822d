// Frames between the launcher and a rank process, over a stream socket: one kind byte, eight length bytes, the payload.
//
//   launcher -> rank   start (its identity and place), ask (send your record now)
//   rank -> launcher   progress (it has recorded something new), record (an answer to ask, or before dying on purpose),
//                      final (the last record; first byte: Relaunch, or that the program failed)
//   in a job           the same, forwarded by agents (backends/launch/agent.h), and: hello and welcome (identities), end (kill
//                      the rank's process), ended (how it ended), goodbye (the job is over; its status and why)
#pragma once

#include "backends/net/receive_buffer.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim {

enum class FrameKind : char {
  start = 'S',
  ask = 'A',
  progress = 'P',
  record = 'R',
  final_record = 'F',
  hello = 'H',
  welcome = 'W',
  end = 'E',
  ended = 'X',
  goodbye = 'G',
  ring = 'M',
};

struct Frame {
  FrameKind kind = FrameKind::progress;
  std::string payload;
};

// Writes the whole frame; false when the other side is gone.
bool write_frame(int fd, FrameKind kind, std::string_view payload);

// Gathers bytes and hands out whole frames.
class FrameReader {
 public:
  using State = ReceiveBuffer::State;
  static constexpr std::size_t longest = std::size_t{1} << 30;

  FrameReader() = default;
  explicit FrameReader(std::size_t most_payload) : most_payload_(most_payload) {}
  void allow(std::size_t most_payload) { most_payload_ = most_payload; }

  // Reads at most a megabyte, and at most the longest frame, without waiting; call it again on `more`. Also `closed` once next()
  // has seen a length over the limit: nothing after it can be read.
  State fill(int fd);
  // Empty when no whole frame has arrived yet.
  std::optional<Frame> next();
  bool broken() const { return broken_; }
  std::size_t held() const { return buffer_.size(); }

 private:
  ReceiveBuffer buffer_;
  std::size_t most_payload_ = longest;
  bool broken_ = false;
};

}  // namespace pdsim
