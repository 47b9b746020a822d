#include "backends/mpi/mpi_communicator.h"

#include "backends/engine/caller_runs_event.h"
#include "backends/mpi/native.h"
#include "core/collectives/plan_runner.h"

#include <mpi.h>

#include <utility>

namespace pdsim {
Result<std::shared_ptr<MpiJob>> MpiJob::begin() {
  Result<std::unique_ptr<MpiEngine>> engine = MpiEngine::begin();
  if (!engine.ok()) return engine.error();
  return std::shared_ptr<MpiJob>(new MpiJob(std::move(*engine)));
}

MpiJob::~MpiJob() {
  (void)engine_->call([this] {
    reductions_.release();
    return Status{};
  });
}

MpiCommunicator::MpiCommunicator(Runtime& runtime, std::shared_ptr<MpiJob> job, MpiGroup group, Time timeout)
    : LibraryCommunicator(runtime, "mpi", group.size),
      job_(std::move(job)),
      group_(group),
      transport_(job_->engine(), group, timeout, false) {}

MpiCommunicator::~MpiCommunicator() {
  abort({Code::cancelled, "the group was destroyed", {}});
  (void)job_->engine().call([this] {
    MPI_Comm_free(&group_.plans);
    MPI_Comm_free(&group_.comm);
    return Status{};
  });
}

WorkPtr MpiCommunicator::make_work() {
  const auto help = [this](const std::atomic<bool>& is_over, Time deadline) {
    using Clock = MpiEngine::Clock;
    const bool ends = deadline < Time::max();
    const auto left = ends ? std::chrono::nanoseconds((deadline - runtime().now()).ns()) : std::chrono::nanoseconds(0);
    job_->engine().help(is_over, ends ? Clock::now() + left : Clock::time_point::max());
  };
  return make_helped_work(runtime(), help);
}

void MpiCommunicator::start_message(const Collective& call, const WorkPtr& work) {
  const Message message = message_of(call);
  job_->engine().enqueue([&engine = job_->engine(), group = group_, message, work, source = call.source] {
    start_messages(engine, group, std::span(&message, 1), MessageOf::user, std::chrono::steady_clock::time_point::max(),
                   [work, source](Status status) { work->complete(std::move(status)); });
  });
}

void MpiCommunicator::start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) {
  auto transport = std::make_shared<MpiTransport>(job_->engine(), group_, call.timeout, true);
  job_->engine().enqueue([transport, call, &plan, work] {
    run_plan(*transport, call, plan, static_cast<Tag>(call.seq),
             [transport, work](Status status) { work->complete(std::move(status)); });
  });
}

void MpiCommunicator::start_native(const Collective& call, const WorkPtr& work) {
  job_->engine().enqueue([job = job_.get(), group = group_, call, work]() mutable {
    pdsim::start_native(job->engine(), job->reductions(), group, std::move(call),
                        [work = std::move(work)](Status status) { work->complete(std::move(status)); });
  });
}

}  // namespace pdsim
