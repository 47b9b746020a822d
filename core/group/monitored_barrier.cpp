#include "core/group/process_group.h"
#include "core/group/sequence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pdsim {
namespace {

Collective message(CollectiveKind kind, Rank peer, Seq seq) {
  Collective m;
  m.kind = kind;
  m.dtype = DType::u8;
  m.root = peer;
  m.user_tag = first_inner_tag + static_cast<Tag>(seq & 0xffffff);
  return m;
}

Error missing_error(const std::string& group, const std::vector<Rank>& missing, Time timeout) {
  const std::string ranks = fmt::format("{}", fmt::join(missing, ", "));
  return {Code::timeout,
          fmt::format("monitored_barrier of {}: rank{} {} did not reach it within {}", group,
                      missing.size() == 1 ? "" : "s", ranks, to_string(timeout)),
          {{"missing", ranks}, {"group", group}}};
}

}  // namespace

Status ProcessGroup::answer_all(Runtime& runtime, const Collective& call, bool all) {
  std::vector<Rank> missing;
  for (Rank peer = 1; peer < size(); ++peer) {
    const Result<WorkPtr> came = communicator_->start(message(CollectiveKind::recv, peer, call.seq));
    if (!came.ok()) return came.error();
    const Status status = (*came)->wait(runtime.now() + call.timeout);
    if (status.ok()) continue;
    missing.push_back(global_rank(peer));
    if (!all) break;
  }
  if (!missing.empty()) return missing_error(name_, missing, call.timeout);
  for (Rank peer = 1; peer < size(); ++peer)
    PDSIM_TRY(pdsim::wait(communicator_->start(message(CollectiveKind::send, peer, call.seq + 1))));
  return {};
}

Status ProcessGroup::report_to_first(Runtime& runtime, const Collective& call) {
  const Time deadline = runtime.now() + call.timeout * size();
  for (const bool tells : {true, false}) {
    const Result<WorkPtr> work = communicator_->start(tells ? message(CollectiveKind::send, 0, call.seq)
                                                            : message(CollectiveKind::recv, 0, call.seq + 1));
    const Status status = work.ok() ? (*work)->wait(deadline) : Status{work.error()};
    if (status.ok()) continue;
    return Error{status.error().code,
                 fmt::format("rank {} reached the monitored_barrier of {}, but rank {} did not answer: {}; see rank {}",
                             global_rank(rank_), name_, global_rank(0), status.error().message, global_rank(0)),
                 {{"group", name_}}};
  }
  return {};
}

Status ProcessGroup::monitored_barrier(Runtime& runtime, Time timeout, bool all) {
  Collective call;
  call.kind = CollectiveKind::monitored_barrier;
  call.timeout = timeout;
  if (!is_member() && !destroyed_) return not_a_member(call).status();
  PDSIM_TRY(check(call));
  if (timeout.ps <= 0)
    return Error{Code::invalid_argument,
                 fmt::format("monitored_barrier: the timeout is {}, and must be positive", to_string(timeout)),
                 {}};
  call.seq = next_seq_;
  next_seq_ += 2;  // as Gloo counts: one for the way there, one for the answer
  Call entry;
  entry.layer = Layer::collective;
  entry.name = std::string(name_of(call.kind));
  entry.group = name_;
  entry.seq = recorded_seq(call);
  const std::int64_t id = recorder_.begin(std::move(entry));
  recorder_.started(id);
  const Status status = rank_ == 0 ? answer_all(runtime, call, all) : report_to_first(runtime, call);
  recorder_.finish(id, status);
  return status;
}

}  // namespace pdsim
