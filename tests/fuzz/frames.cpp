#include "tests/fuzz/frames.h"

#include "backends/os/posix.h"
#include "core/base/check.h"
#include "core/store/length_prefixed.h"

#include <algorithm>
#include <optional>
#include <sys/socket.h>
#include <utility>

namespace pdsim::fuzz {

std::vector<Frame> frames_in(std::string_view bytes) {
  constexpr std::size_t most_at_once = 16 << 10;  // a socket takes it without waiting
  int ends[2] = {-1, -1};
  PDSIM_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "a pair of sockets");
  const Descriptor ours(ends[0]);
  std::optional<Descriptor> theirs(ends[1]);
  FrameReader reader;
  std::vector<Frame> frames;
  for (bool open = true; open;) {
    const std::string_view part = bytes.substr(0, most_at_once);
    if (part.empty()) theirs.reset();
    if (theirs)
      PDSIM_CHECK(send(theirs->get(), part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(part.size()),
                  "a socket takes a small text at once");
    bytes.remove_prefix(part.size());
    open = reader.fill(ours.get()) != FrameReader::State::closed;
    while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  }
  return frames;
}

std::string frame_bytes(FrameKind kind, std::string_view payload) {
  std::string bytes(1, static_cast<char>(kind));
  put_number(bytes, static_cast<std::uint64_t>(payload.size()));
  return bytes.append(payload);
}

}  // namespace pdsim::fuzz
