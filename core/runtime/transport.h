// Transport: tagged messages between the ranks of one group; plans run over it.
//
//   matching   a send meets the receive with the same tag that names it (or any_source); per pair and tag in order
//   batches    post() starts all messages of one round at once and calls `done` exactly once: when every one completed,
//              or with the first error. Buffers must stay alive until then. `done` may run inside post().
//   errors     timeout, peer_closed, size_mismatch (message longer than the receive), cancelled
//   threads    post() from the rank's own fiber or thread or from inside a `done`; `done` runs on a thread of the
//              transport
#pragma once

#include "core/base/callback.h"
#include "core/base/result.h"
#include "core/base/types.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace pdsim {

struct Message {
  enum class Kind : std::uint8_t { send, receive };
  Kind kind = Kind::send;
  Rank peer = no_rank;  // group rank; any_source for a receive that takes the first message from any rank
  Tag tag = 0;
  std::byte* data = nullptr;  // null with payload: none; a send never writes it
  std::int64_t bytes = 0;
  Rank* matched = nullptr;  // receive only: where to write the peer's group rank
};

class Transport {
 public:
  using Done = Callback<const Status&>;
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  // Rank r of the group is on node r / ranks_per_node(); 1 where that does not hold, or is not known.
  virtual int ranks_per_node() const { return 1; }
  virtual void post(std::span<const Message> round, Done done) = 0;
  // False where after_reduction() calls back at once.
  virtual bool charges_reductions() const { return true; }
  // Charges the cost of combining `bytes` locally, then continues with `then`; real transports call it at once.
  virtual void after_reduction(std::int64_t bytes, std::function<void()> then) = 0;
};

}  // namespace pdsim
