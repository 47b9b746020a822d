#include "backends/mpi/mpi_member.h"

#include "backends/capabilities.h"
#include "backends/mpi/native.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/plan_runner.h"

#include <fmt/format.h>
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

MpiMember::MpiMember(Runtime& runtime, std::shared_ptr<MpiJob> job, MpiGroup group, Time timeout)
    : runtime_(runtime), job_(std::move(job)), group_(group), transport_(job_->engine(), group, timeout, false) {}

MpiMember::~MpiMember() {
  abort({Code::cancelled, "the group was destroyed", {}});
  (void)job_->engine().call([this] {
    MPI_Comm_free(&group_.plans);
    MPI_Comm_free(&group_.comm);
    return Status{};
  });
}

Result<WorkPtr> MpiMember::start(const Collective& call) {
  const bool is_message = row(call.kind).point_to_point;
  const Capabilities& own = capabilities_of("mpi");
  Result<const Algorithm*> plan = static_cast<const Algorithm*>(nullptr);
  if (!is_message) plan = find_plan(call, group_.size, own.has(call.kind), own.title);
  if (!plan.ok()) return plan.error();
  Result<WorkPtr> work = begin_work();
  if (!work.ok()) return work;
  if (is_message)
    start_message(call, *work);
  else if (call.count == 0 && !call.splits && call.kind != CollectiveKind::barrier)
    (*work)->complete({});
  else if (*plan != nullptr)
    start_plan(call, **plan, *work);
  else
    job_->engine().enqueue([job = job_.get(), group = group_, call, work = *work] {
      start_native(job->engine(), job->reductions(), group, call,
                   [work](Status status) { work->complete(std::move(status)); });
    });
  return work;
}

Result<WorkPtr> MpiMember::begin_work() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return Error{Code::group_unusable, fmt::format("the group was given up: {}", aborted_->message), {}};
  if (Status health = job_->engine().health(); !health.ok()) return health.error();
  std::erase_if(unfinished_, [](const WorkPtr& w) { return w->done(); });
  unfinished_.push_back(std::make_shared<Work>(runtime_.make_event()));
  return unfinished_.back();
}

void MpiMember::start_message(const Collective& call, const WorkPtr& work) {
  const Message message = message_of(call);
  job_->engine().enqueue([&engine = job_->engine(), group = group_, message, work, source = call.source] {
    start_messages(engine, group, std::span(&message, 1), MessageOf::user, std::chrono::steady_clock::time_point::max(),
                   [work, source](Status status) { work->complete(std::move(status)); });
  });
}

void MpiMember::start_plan(const Collective& call, const Algorithm& plan, const WorkPtr& work) {
  auto transport = std::make_shared<MpiTransport>(job_->engine(), group_, call.timeout, true);
  job_->engine().enqueue([transport, call, &plan, work] {
    run_plan(*transport, call, plan, static_cast<Tag>(call.seq),
             [transport, work](Status status) { work->complete(std::move(status)); });
  });
}

void MpiMember::abort(const Error& reason) {
  std::vector<WorkPtr> running;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
    aborted_ = reason;
    running.swap(unfinished_);
  }
  std::erase_if(running, [](const WorkPtr& w) { return w->done(); });
  if (running.empty()) return;
  job_->engine().break_off(reason);  // first: what waits for the works may then give its memory back
  for (const WorkPtr& work : running) work->complete(reason);
}

}  // namespace pdsim
