// The common base of the communicators of polled libraries: how an operation is routed, the running works, and how they end.
//
//   ways     `auto` and `native` take the library's own operation where it has one (capabilities.h), otherwise pdsim's plan; any
//            other name is a plan
//   after    an abort nothing can be started
#pragma once

#include "core/collectives/tuning/algorithm_choice.h"
#include "core/group/backend.h"
#include "core/runtime/runtime.h"
#include "core/semantics/capabilities.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace pdsim {

class LibraryCommunicator : public Communicator {
 public:
  Result<WorkPtr> start(const Collective& call) final;
  void abort(const Error& reason) final;

 protected:
  // `world` has a row of capabilities. `runtime` outlives the member.
  LibraryCommunicator(Runtime& runtime, std::string_view world, int size)
      : runtime_(runtime), own_(capabilities_of(world)), size_(size) {}

  virtual WorkPtr make_work() { return std::make_shared<Work>(runtime_.make_event()); }
  Runtime& runtime() { return runtime_; }
  // Each completes the work, now or later, on any thread. `native` and `plan` never receive empty calls.
  virtual void start_message(const Collective& call, const WorkPtr& work) = 0;
  virtual void start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) = 0;
  virtual void start_native(const Collective& call, const WorkPtr& work) = 0;
  virtual Status health() const = 0;
  // The library touches no memory of a running operation once this has returned.
  virtual void abort_library(const Error& reason) = 0;

 private:
  Result<WorkPtr> begin_work();
  void forget_finished();

  Runtime& runtime_;
  const Capabilities& own_;
  int size_;
  AlgorithmProofs proofs_;  // touched by the rank's thread only
  std::mutex mutex_;
  std::vector<WorkPtr> unfinished_;
  std::optional<Error> aborted_;
};

}  // namespace pdsim
