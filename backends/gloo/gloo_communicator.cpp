#include "backends/gloo/gloo_communicator.h"

#include "backends/engine/caller_runs_event.h"
#include "backends/gloo/errors.h"
#include "backends/gloo/native.h"
#include "core/collectives/plan_runner.h"
#include "core/semantics/capabilities.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

Error unusable(const Error& reason) {
  return {Code::group_unusable, fmt::format("the group was aborted: {}", reason.message), {}};
}

}  // namespace

GlooCommunicator::GlooCommunicator(Runtime& runtime, std::shared_ptr<::gloo::Context> context, GlooPeers peers,
                                   Time timeout)
    : runtime_(runtime),
      context_(std::move(context)),
      peers_(std::move(peers)),
      transport_(context_, gloo_timeout(timeout.ps), false) {
  for (std::thread& worker : workers_) worker = std::thread([this] { work_loop(); });
}

GlooCommunicator::~GlooCommunicator() {
  abort({Code::cancelled, "the group was destroyed", {}});
  for (std::thread& worker : workers_) worker.join();
}

Result<WorkPtr> GlooCommunicator::start(const Collective& call) {
  if (row(call.kind).point_to_point) return start_message(call);
  const Capabilities& own = capabilities_of("gloo");
  const Result<const Algorithm*> plan = find_plan(call, proofs_, transport_.size(), own.has(call.kind), own.title);
  if (!plan.ok()) return plan.error();
  if (call.count == 0 && !call.splits && call.kind != CollectiveKind::barrier) {
    auto work = std::make_shared<Work>(runtime_.make_event());
    work->complete({});
    return work;
  }
  const std::lock_guard lock(mutex_);
  if (aborted_) return unusable(*aborted_);
  forget_finished();
  const std::uint64_t number = ++started_;
  const auto help = [this, number](const std::atomic<bool>&, Time deadline) {
    if (deadline == Time::max()) run_if_next(number);  // Gloo knows no other end
  };
  auto work = make_helped_work(runtime_, help);
  Task task{number, call, *plan, work, {}};
  if (call.kind == CollectiveKind::barrier) task.earlier = unfinished_;
  unfinished_.push_back(work);
  queue_.push_back(std::move(task));
  if (!somebody_looks_) changed_.notify_one();
  return work;
}

Result<WorkPtr> GlooCommunicator::start_message(const Collective& call) {
  if (call.root == transport_.rank())
    return Error{Code::unsupported, "gloo cannot send a message to the rank itself", {}};
  auto work = std::make_shared<Work>(runtime_.make_event());
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return unusable(*aborted_);
    forget_finished();
    unfinished_.push_back(work);
    ++at_work_;
  }
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.ended->load(); });
  const Message message = message_of(call);
  std::shared_ptr<GlooMessage> posted;
  Status status = guarded([&] {
    posted = std::make_shared<GlooMessage>(*context_, message, SlotSpace::user);
    return Status{};
  });
  if (!status.ok()) {
    leave();
    work->complete(std::move(status));
    return work;
  }
  auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto timeout = gloo_timeout(call.timeout.ps);
  waiters_.push_back({std::jthread([this, posted, work, ended, timeout, source = call.source]() mutable {
                        Status outcome = guarded([&] { return posted->wait(timeout); });
                        posted.reset();
                        leave();
                        const bool explained = !outcome.ok() && is_aborted();  // by abort(), as in work_loop
                        if (!explained) work->complete(peers_.name_in(std::move(outcome)));
                        *ended = true;
                      }),
                      ended});
  return work;
}

void GlooCommunicator::forget_finished() {
  std::erase_if(unfinished_, [](const WorkPtr& w) { return w->done(); });
}

bool GlooCommunicator::is_aborted() {
  const std::lock_guard lock(mutex_);
  return aborted_.has_value();
}

void GlooCommunicator::run_if_next(std::uint64_t number) {
  Task task;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return;
    if (queue_.front().number != number) return changed_.notify_all();
    task = take_next();
  }
  run_to_end(task);
}

GlooCommunicator::Task GlooCommunicator::take_next() {
  Task task = std::move(queue_.front());
  queue_.pop_front();
  if (!queue_.empty()) changed_.notify_one();
  return task;
}

void GlooCommunicator::work_loop() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_task(lock)) return;
      task = take_next();
    }
    run_to_end(task);
  }
}

bool GlooCommunicator::wait_for_task(std::unique_lock<std::mutex>& lock) {
  constexpr std::chrono::microseconds look(500);
  constexpr int looks_without_start = 400;
  const auto is_wanted = [this] { return aborted_ || !queue_.empty(); };
  if (!somebody_looks_) {
    somebody_looks_ = true;
    std::uint64_t seen = started_;
    for (int quiet = 0; quiet < looks_without_start && !is_wanted(); ++quiet) {
      changed_.wait_for(lock, look);
      if (seen != started_) quiet = 0;
      seen = started_;
    }
    somebody_looks_ = false;
  }
  changed_.wait(lock, is_wanted);
  return !aborted_;
}

void GlooCommunicator::run_to_end(const Task& task) {
  for (const WorkPtr& earlier : task.earlier) (void)earlier->wait();
  Status outcome = run_unless_aborted(task);
  // If an abort broke the task, abort() reports why. Completing runs callbacks, which may start more, so not under the lock.
  const bool explained = !outcome.ok() && is_aborted();
  if (!explained) task.work->complete(peers_.name_in(std::move(outcome)));
}

Status GlooCommunicator::run_unless_aborted(const Task& task) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return unusable(*aborted_);
    ++at_work_;
  }
  Status outcome = guarded([&] { return run(task); });
  leave();
  return outcome;
}

void GlooCommunicator::leave() {
  const std::lock_guard lock(mutex_);
  if (--at_work_ == 0 && aborted_) changed_.notify_all();
}

Status GlooCommunicator::run(const Task& task) {
  if (task.plan == nullptr) {
    run_native(context_, task.call);
    return {};
  }
  GlooTransport transport(context_, gloo_timeout(task.call.timeout.ps), true);
  Status outcome;
  run_plan(transport, task.call, *task.plan, static_cast<Tag>(task.call.seq),
           [&outcome](Status status) { outcome = std::move(status); });
  return outcome;
}

void GlooCommunicator::abort(const Error& reason) {
  std::vector<WorkPtr> running;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
    aborted_ = reason;
    running.swap(unfinished_);
    queue_.clear();
    changed_.notify_all();
  }
  std::erase_if(running, [](const WorkPtr& w) { return w->done(); });
  if (running.empty()) return close_connections(*context_);
  break_connections(*context_);
  {
    std::unique_lock lock(mutex_);  // what waits for the works may give their memory back
    changed_.wait(lock, [this] { return at_work_ == 0; });
  }
  for (const WorkPtr& work : running) work->complete(reason);
}

}  // namespace pdsim
