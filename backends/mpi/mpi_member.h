// This rank in one group of MPI: a communicator, and the works that its process's engine runs on it.
#pragma once

#include "backends/mpi/mpi_engine.h"
#include "backends/mpi/mpi_transport.h"
#include "backends/mpi/reductions.h"
#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pdsim {

// One life of MPI in this process, shared by the backend and its members.
class MpiJob {
 public:
  static Result<std::shared_ptr<MpiJob>> begin();
  ~MpiJob();
  MpiEngine& engine() { return *engine_; }
  MpiReductions& reductions() { return reductions_; }

 private:
  explicit MpiJob(std::unique_ptr<MpiEngine> engine) : engine_(std::move(engine)) {}
  MpiReductions reductions_;  // of the engine's thread
  std::unique_ptr<MpiEngine> engine_;
};

class MpiMember final : public Member {
 public:
  // Owns the group's communicator. `timeout` is the transport's.
  MpiMember(Runtime& runtime, std::shared_ptr<MpiJob> job, MpiGroup group, Time timeout);
  ~MpiMember() override;
  Result<WorkPtr> start(const Collective& call) override;
  Transport& transport() override { return transport_; }
  void abort(const Error& reason) override;

 private:
  Result<WorkPtr> begin_work();
  void start_message(const Collective& call, const WorkPtr& work);
  void start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work);

  Runtime& runtime_;
  std::shared_ptr<MpiJob> job_;
  MpiGroup group_;
  MpiTransport transport_;
  std::mutex mutex_;
  std::vector<WorkPtr> unfinished_;
  std::optional<Error> aborted_;
};

}  // namespace pdsim
