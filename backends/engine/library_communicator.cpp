#include "backends/engine/library_communicator.h"

#include <fmt/format.h>

namespace pdsim {

Result<WorkPtr> LibraryCommunicator::start(const Collective& call) {
  const bool is_message = row(call.kind).point_to_point;
  Result<const Algorithm*> plan = static_cast<const Algorithm*>(nullptr);
  if (!is_message) plan = find_plan(call, proofs_, size_, own_.has(call.kind), own_.title);
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
    start_native(call, *work);
  forget_finished();  // now, when the other ranks can go on already
  return work;
}

Result<WorkPtr> LibraryCommunicator::begin_work() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return Error{Code::group_unusable, fmt::format("the group was aborted: {}", aborted_->message), {}};
  if (Status now = health(); !now.ok()) return now.error();
  unfinished_.push_back(make_work());
  return unfinished_.back();
}

void LibraryCommunicator::forget_finished() {
  const std::lock_guard lock(mutex_);
  std::erase_if(unfinished_, [](const WorkPtr& w) { return w->done(); });
}

void LibraryCommunicator::abort(const Error& reason) {
  std::vector<WorkPtr> running;
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return;
    aborted_ = reason;
    running.swap(unfinished_);
  }
  std::erase_if(running, [](const WorkPtr& w) { return w->done(); });
  if (running.empty()) return;
  abort_library(reason);  // first: what waits for the works may then give its memory back
  for (const WorkPtr& work : running) work->complete(reason);
}

}  // namespace pdsim
