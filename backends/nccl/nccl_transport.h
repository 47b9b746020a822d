// A Transport over ncclSend and ncclRecv: one group call per round.
//
//   post      returns at once; `done` runs on the engine's thread
//   order     NCCL has no tags: the messages between two ranks match in the order of the rounds and, within one, of its messages.
//             So only one plan of a group may run at a time
//   any       a receive from any source is unsupported
//   sizes     a receive that is not as long as its message is undefined in NCCL. An empty message is sent as one byte
#pragma once

#include "backends/nccl/device/channel.h"
#include "core/base/quantity.h"
#include "core/runtime/transport.h"

#include <memory>

namespace pdsim {

// One round as a flight. Errors: unsupported, invalid_argument.
Result<NcclFlight> flight_of(std::span<const Message> round);

class NcclTransport final : public Transport {
 public:
  // `timeout` covers each post.
  NcclTransport(PollingEngine& engine, std::shared_ptr<NcclChannel> channel, Rank rank, int size, Time timeout)
      : engine_(engine), channel_(std::move(channel)), rank_(rank), size_(size), timeout_(timeout) {}
  Rank rank() const override { return rank_; }
  int size() const override { return size_; }
  void post(std::span<const Message> round, Done done) override;
  void after_reduction(std::int64_t, std::function<void()> then) override { then(); }

 private:
  PollingEngine& engine_;
  std::shared_ptr<NcclChannel> channel_;
  Rank rank_;
  int size_;
  Time timeout_;
};

}  // namespace pdsim
