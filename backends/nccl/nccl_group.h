// A communicator's part on the engine's thread: its NCCL communicators, and the failure of all when one of them fails.
//
//   communicators   one for NCCL's own collectives, one for plans; and one for each direction between two ranks that send
//                   messages, so that a message without a receive delays no other
//   failure         aborts all of them. Flights end with the reason, and nothing can be started any more
#pragma once

#include "backends/nccl/device/channel.h"

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pdsim {

// The NCCL state of a process, shared by the backend and its communicators. Its destructor waits until every communicator is
// freed.
class NcclJob {
 public:
  static Result<std::shared_ptr<NcclJob>> begin(const NcclLibrary& library);
  ~NcclJob();
  PollingEngine& engine() { return engine_; }
  const NcclLibrary& library() const { return library_; }
  // `closed` will be set when a communicator is freed.
  void wait_at_end_for(std::future<void> closed);

 private:
  class Engine final : public PollingEngine {
   public:
    Engine() : PollingEngine("this rank has given up NCCL") {}
    ~Engine() override { stop(nullptr); }
    Status start();
  };
  explicit NcclJob(const NcclLibrary& library) : library_(library) {}
  NcclLibrary library_;
  std::mutex mutex_;
  std::vector<std::future<void>> closing_;
  Engine engine_;
};

class NcclGroup : public std::enable_shared_from_this<NcclGroup> {
 public:
  NcclGroup(PollingEngine& engine, const NcclLibrary& library)
      : engine_(engine), library_(library), staging_(library.cuda) {}

  // Called from any thread.
  Status health() const;  // group_unusable, with why

  // Called on the engine's thread.
  std::shared_ptr<NcclChannel> add_channel();
  void fail(const Error& reason);
  // One future for each communicator.
  std::vector<std::future<void>> close();

 private:
  PollingEngine& engine_;
  const NcclLibrary library_;
  NcclStaging staging_;
  std::vector<std::shared_ptr<NcclChannel>> channels_;
  mutable std::mutex mutex_;
  std::optional<Error> failed_;
};

}  // namespace pdsim
