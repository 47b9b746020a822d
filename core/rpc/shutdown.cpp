// How workers part: they meet at the leader, whose name is the first of all, for as long as anything is left to do.
#include "core/rpc/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {
namespace {

// Every call is over at every worker; every use of a reference has been given up.
enum Phase : std::int64_t { calls_over, users_deleted };

Time deadline_of(Runtime& runtime, Time timeout) { return timeout.ps == 0 ? Time::max() : runtime.now() + timeout; }

}  // namespace

template <class Condition>
bool RpcAgent::wait_until(Condition condition, Time deadline) {
  while (!condition()) {
    const std::shared_ptr<Event> event = changed_;
    if (!event->wait_within(deadline)) return condition();
  }
  return true;
}

Rank RpcAgent::leader() const {
  const auto first = std::min_element(workers_.begin(), workers_.end(),
                                      [](const WorkerInfo& a, const WorkerInfo& b) { return a.name < b.name; });
  return first->id;
}

Error RpcAgent::followers_missing(std::int64_t phase, Time timeout) const {
  std::string names;
  const Error* first = nullptr;
  const auto arrived = arrived_.find(phase);
  for (const WorkerInfo& worker : workers_) {
    if (worker.id == rank_ || (arrived != arrived_.end() && arrived->second.contains(worker.id))) continue;
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", worker.name);
    const auto gone = closed_.find(worker.id);
    if (gone != closed_.end() && first == nullptr) first = &gone->second;
  }
  const std::string after = timeout.ps == 0 ? "did not come to" : "timed out in";
  std::string text = fmt::format("Followers [{}] {} _all_gather", names, after);
  if (timeout.ps != 0) text += fmt::format(" after {:.2f} seconds", timeout.seconds());
  text += first == nullptr ? "." : fmt::format(". The first exception is {}", first->message);
  return {first == nullptr ? Code::timeout : Code::peer_closed, text, {}};
}

Status RpcAgent::lead(std::int64_t phase, Time timeout) {
  const std::size_t others = workers_.size() - 1;
  const auto all_here = [&] { return arrived_[phase].size() == others; };
  const auto somebody_gone = [&] {
    return std::any_of(closed_.begin(), closed_.end(),
                       [&](const auto& gone) { return !arrived_[phase].contains(gone.first); });
  };
  (void)wait_until([&] { return all_here() || somebody_gone(); }, deadline_of(runtime_, timeout));
  if (!all_here()) return followers_missing(phase, timeout);
  RpcMessage go_on;
  go_on.kind = RpcMessageKind::proceed;
  go_on.id = phase;
  for (const WorkerInfo& worker : workers_)
    if (worker.id != rank_) send(worker.id, go_on);
  return {};
}

Status RpcAgent::meet(std::int64_t phase, Time timeout) {
  const Rank first = leader();
  if (first == rank_) return lead(phase, timeout);
  RpcMessage here;
  here.kind = RpcMessageKind::arrived;
  here.id = phase;
  send(first, here);
  const auto gone = [&] { return closed_.contains(first); };
  (void)wait_until([&] { return proceeded_.contains(phase) || gone(); }, deadline_of(runtime_, timeout));
  if (proceeded_.contains(phase)) return {};
  if (gone()) return closed_.at(first);
  return Error{Code::timeout,
               fmt::format("{} waited {:.2f} seconds in _all_gather for its leader, {}", self().name, timeout.seconds(),
                           workers_[static_cast<std::size_t>(first)].name),
               {}};
}

Result<std::vector<RpcLeak>> RpcAgent::shutdown(Time timeout) {
  const auto part = [&]() -> Status {
    // Calls in either direction that are still pending may lead to more calls.
    const auto is_quiet = [this] { return pending_.empty() && rrefs_->is_settled(); };
    while (!pending_.empty()) {
      const RpcFuture oldest = pending_.begin()->second.future;  // which marks itself at its limit
      (void)oldest.wait();
    }
    PDSIM_TRY(meet(calls_over, timeout));
    (void)wait_until([&] { return is_quiet() && servers_.idle(); }, deadline_of(runtime_, timeout));
    return {};
  };
  Status status = part();
  std::vector<RpcLeak> leaks;
  if (status.ok()) leaks = rrefs_->delete_users();
  if (status.ok()) status = meet(users_deleted, timeout);
  if (status.ok()) {
    RpcMessage bye;
    bye.kind = RpcMessageKind::bye;
    for (const WorkerInfo& worker : workers_)
      if (worker.id != rank_) send(worker.id, bye);
    channel_->flush();
    (void)wait_until([&] { return closed_.size() == workers_.size() - 1; }, Time::max());
  }
  stop(!status.ok());
  if (!status.ok()) return status.error();
  return leaks;
}

void RpcAgent::leave() { stop(true); }

void RpcAgent::stop(bool says_bye) {
  if (over_) return;
  if (says_bye) {
    RpcMessage bye;
    bye.kind = RpcMessageKind::bye;
    for (const WorkerInfo& worker : workers_)
      if (worker.id != rank_) send(worker.id, bye);
    channel_->flush();
  }
  over_ = true;
  (void)rrefs_->delete_users();
  for (const auto& [id, pending] : std::exchange(pending_, {}))
    pending.future.complete(Error{Code::cancelled, "RPC has been shut down", {}});
  changed();
  servers_.stop();
  channel_->abort();
}

}  // namespace pdsim
