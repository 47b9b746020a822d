// This rank in one group of MPI: a communicator, and the works that its process's engine runs on it.
#pragma once

#include "backends/engine/library_communicator.h"
#include "backends/mpi/mpi_engine.h"
#include "backends/mpi/mpi_transport.h"
#include "backends/mpi/reductions.h"

#include <memory>

namespace pdsim {

// One lifetime of MPI in this process, shared by the backend and its communicators.
class MpiJob {
 public:
  static Result<std::shared_ptr<MpiJob>> begin();
  ~MpiJob();
  MpiEngine& engine() { return *engine_; }
  MpiReductions& reductions() { return reductions_; }

 private:
  explicit MpiJob(std::unique_ptr<MpiEngine> engine) : engine_(std::move(engine)) {}
  MpiReductions reductions_;  // used on the engine's thread
  std::unique_ptr<MpiEngine> engine_;
};

class MpiCommunicator final : public LibraryCommunicator {
 public:
  // Owns the group's communicator. `timeout` is the transport's.
  MpiCommunicator(Runtime& runtime, std::shared_ptr<MpiJob> job, MpiGroup group, Time timeout);
  ~MpiCommunicator() override;

 private:
  WorkPtr make_work() override;  // a caller that waits for the work drives MPI meanwhile
  void start_message(const Collective& call, const WorkPtr& work) override;
  void start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) override;
  void start_native(const Collective& call, const WorkPtr& work) override;
  Status health() const override { return job_->engine().health(); }
  void abort_library(const Error& reason) override { job_->engine().abort(reason); }

  std::shared_ptr<MpiJob> job_;
  MpiGroup group_;
  MpiTransport transport_;
};

}  // namespace pdsim
