// Frames between the launcher and a rank process, over a stream socket: one kind byte, eight length bytes, the payload.
//
//   launcher -> rank   start (who it is, where), ask (send your record now)
//   rank -> launcher   progress (it has recorded something new), record (an answer to ask, or before dying on purpose),
//                      final (the last record; first byte: Relaunch, or that the program failed)
//   in a job           the same, passed on by agents (backends/launch/agent.h), and: hello and welcome (who is who), end (the rank's
//                      process), ended (how it did), goodbye (the job is over; its status and why)
#pragma once

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
  enum class State : std::uint8_t { open, closed };
  // Reads what is there without waiting.
  State fill(int fd);
  // Empty when no whole frame is there yet. A length over the limit (1 GiB) closes the stream for good.
  std::optional<Frame> next();

 private:
  std::string bytes_;
  bool broken_ = false;
};

}  // namespace pdsim
