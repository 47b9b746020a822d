// One communicator with a stream of its own, and its flights: data to the device, NCCL's work there, data back.
//
//   order    flights are launched one after the other, in the order of submit(); NCCL has no tags, so this order matches
//            the ranks' calls
//   progress the communicator does not block: the channel polls (ncclCommGetAsyncError, cudaEventQuery) and continues when an
//            operation has completed
//   memory   the host's is read when the flight is launched and written when it has landed, never in between or after a failure
//   failure  of NCCL or CUDA, or a flight past its deadline: the owner is notified, and is expected to abort() all its channels
//   threads  the engine's
#pragma once

#include "backends/engine/polling_engine.h"
#include "backends/nccl/device/staging.h"
#include "backends/nccl/library.h"
#include "core/base/types.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// The context of a launch. An offset into the flight's memory is the same on both sides.
struct NcclContext {
  const NcclLibrary& loaded;
  ncclComm_t communicator;
  cudaStream_t stream;
  std::byte* device;
  std::byte* host;             // pinned
  HostWorks* works = nullptr;  // of the memory
};

struct NcclFlight {
  using Clock = std::chrono::steady_clock;
  struct Copy {
    std::byte* memory;  // the caller's
    std::int64_t bytes;
    std::int64_t at;
  };
  std::vector<Copy> in, out;
  std::int64_t bytes = 0;  // of memory on the device
  // Enqueues the next part: it ends with the first NCCL call that must be accepted before anything may follow. True: there is
  // another part. Called again for each part, once NCCL has accepted the previous one.
  std::function<Result<bool>(const NcclContext&)> launch;
  Clock::time_point deadline = Clock::time_point::max();
  std::function<void(Status)> done;  // once

  // Reserves memory for `bytes`, aligned as NCCL prefers. Returns the offset.
  std::int64_t reserve(std::int64_t wanted);
  // Copies `wanted` bytes of the caller's memory, which is only read, to the offset `at`.
  void read(const std::byte* memory, std::int64_t wanted, std::int64_t at);

  // Enqueues the flight's own copies: from the caller's memory to the device, and back to pinned memory.
  Status bring_in(const NcclContext& context) const;
  Status bring_out(const NcclContext& context) const;
  // Copies the results to the caller's memory, after the stream has passed bring_out().
  void hand_over(const std::byte* host) const;
};

struct NcclSlot {
  ncclUniqueId id{};
  Rank rank = 0;
  int size = 1;
};

class NcclChannel : public std::enable_shared_from_this<NcclChannel> {
 public:
  using Clock = NcclFlight::Clock;
  struct Owner {
    PollingEngine& engine;
    const NcclLibrary& loaded;
    NcclStaging& staging;
    std::function<void(const Error&)> failed;  // may be called from inside any method
  };

  explicit NcclChannel(Owner owner) : owner_(std::move(owner)) {}
  ~NcclChannel();
  NcclChannel(const NcclChannel&) = delete;
  NcclChannel& operator=(const NcclChannel&) = delete;

  // Starts creating the communicator; `opened` is called once, when it is created, or could not be by the deadline.
  void open(const NcclSlot& slot, Clock::time_point deadline, std::function<void(Status)> opened);
  // May be called before the channel is open.
  void submit(NcclFlight flight);
  // Ends everything on this channel, with `reason`.
  void abort(const Error& reason);
  // Call it when nothing is in flight: destroys the communicator, together with the other ranks, but does not wait for them
  // forever. `closed` is called once.
  void close(std::function<void()> closed);

 private:
  enum class State : std::uint8_t { opening, open, closing, over };
  struct InAir {
    NcclFlight flight;
    NcclStaging::Buffer buffer;
    cudaEvent_t landed = nullptr;
    bool more = true;  // parts to launch
  };
  class Poller;

  void keep_polling();
  bool poll();  // true: nothing is left to poll for now
  Status advance();
  Status advance_opening(bool busy);
  Status advance_closing(bool busy);
  Status launch_next();
  Status launch_part();
  Status send_on_its_way();
  Status land();
  Status check_deadlines();
  Status begin_open(const NcclSlot& slot);
  NcclContext lane_of(const InAir& air) const;
  void finish(InAir& air);
  void end(bool abort);
  bool idle() const { return waiting_.empty() && !launching_ && flying_.empty(); }

  Owner owner_;
  State state_ = State::opening;
  ncclComm_t communicator_ = nullptr;
  cudaStream_t stream_ = nullptr;
  Clock::time_point deadline_ = Clock::time_point::max();  // of opening and closing
  std::function<void(Status)> opened_;
  std::function<void()> closed_;
  std::deque<NcclFlight> waiting_;
  std::unique_ptr<InAir> launching_;  // NCCL has not accepted it yet
  std::deque<InAir> flying_;
  bool polled_ = false;
  bool progressed_ = false;
};

}  // namespace pdsim
