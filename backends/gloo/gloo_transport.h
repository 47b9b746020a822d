// A Transport over Gloo's unbound buffers.
//
//   post      blocks the calling thread until the round is over, and calls `done` before it returns
//   order     all receives are posted first, then the sends; one buffer per message, kept until its operation has ended
//   self      a rank's message to itself is copied: Gloo would crash
//   sizes     a receive shorter than its message costs the process (Gloo aborts it); a longer one completes
//   failure   closes the connections of the context: a buffer with a posted receive would wedge its pair forever
#pragma once

#include "core/runtime/transport.h"

#include <gloo/context.h>

#include <chrono>
#include <memory>
#include <vector>

namespace gloo::transport {
class UnboundBuffer;
}

namespace pdsim {

// Slots: Gloo's own collectives use the top bytes 0x01 to 0x08.
enum class SlotSpace : std::uint8_t { plan = 0x40, user = 0x41, nobody = 0x42 };
std::uint64_t slot_of(SlotSpace space, Tag tag);

// One posted message. wait() blocks until it has ended, and throws what Gloo throws.
class GlooMessage {
 public:
  GlooMessage(::gloo::Context& context, const Message& message, SlotSpace space);
  ~GlooMessage();
  GlooMessage(GlooMessage&&) noexcept;
  Status wait(std::chrono::milliseconds timeout);

 private:
  Message message_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
};

class GlooTransport final : public Transport {
 public:
  // With `end_to_end`, `timeout` covers everything posted from now on; otherwise each post.
  GlooTransport(std::shared_ptr<::gloo::Context> context, std::chrono::milliseconds timeout, bool end_to_end);
  Rank rank() const override { return context_->rank; }
  int size() const override { return context_->size; }
  void post(std::span<const Message> round, Done done) override;
  void after_reduction(std::int64_t, std::function<void()> then) override { then(); }

 private:
  Status run_round(std::span<const Message> round);
  std::chrono::milliseconds left() const;

  std::shared_ptr<::gloo::Context> context_;
  std::chrono::milliseconds timeout_;
  bool end_to_end_;
  std::chrono::steady_clock::time_point deadline_;
};

// Closes every connection. Operations in flight end, but one posted afterwards would wait for its whole timeout. Exceptions of
// Gloo are dropped here: the context is finished anyway.
void close_connections(::gloo::Context& context);

// Ends operations in flight, and at once any posted afterwards by any thread: Gloo's own way to do that is a timeout, so this
// provokes one (a receive without a sender, 1 ms), which marks every connection as failed. Then closes them.
void break_connections(::gloo::Context& context);

}  // namespace pdsim
