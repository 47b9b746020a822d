// A call reached its limit while the callee was at work: nothing was wrong but the limit.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

struct LimitReached {
  Rank caller = 0;
  const Call* call = nullptr;
  RpcChain chain;
  const Call* served = nullptr;  // the same call, what makes the value that it asks for, or what kept the thread that it waited for
  bool queued = false;           // the last of these
};

// It ended well, after the limit.
bool was_done_later(const Call* served, const Call& call) {
  return served != nullptr && served->state == CallState::completed && served->finished > call.finished;
}

// Returns the first of the calls that keep all threads to give its thread back; null: one of them did not.
const Call* first_done(const std::vector<const Call*>& busy, const Call& call) {
  const Call* first = nullptr;
  for (const Call* served : busy) {
    if (!was_done_later(served, call)) return nullptr;
    if (first == nullptr || served->finished < first->finished) first = served;
  }
  return first;
}

// The first request of the run that reached its limit; not the `wait` for it.
std::optional<std::pair<Rank, const Call*>> first_at_its_limit(const RunRecord& run) {
  std::optional<std::pair<Rank, const Call*>> first;
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls) {
      if (call.layer != Layer::rpc || call.state != CallState::timed_out || call.name == "wait") continue;
      if (call.details->rpc.side != RpcSide::caller || call.peer < 0) continue;
      if (!first || call.finished < first->second->finished) first = std::pair(result.log.rank, &call);
    }
  return first;
}

std::optional<LimitReached> limit_reached(const Report& report) {
  const std::optional<Time> moment = rpc_moment(report);
  const auto first = first_at_its_limit(report.run);
  if (!moment || !first || report.run.deadlocked) return std::nullopt;
  LimitReached reached{first->first, first->second, rpc_chain(report.run, first->first, *first->second, *moment)};
  if (reached.chain.hops.empty() || reached.chain.back_to) return std::nullopt;
  const RpcHop& last = reached.chain.hops.back();
  reached.queued = last.wait == RpcWait::for_a_server;
  if (reached.queued)
    reached.served = first_done(last.busy, *reached.call);
  else if (last.wait == RpcWait::at_work && was_done_later(reached.chain.hops.front().served, *reached.call))
    reached.served = reached.chain.hops.front().served;
  return reached.served != nullptr ? std::optional(std::move(reached)) : std::nullopt;
}

// A quarter more than it took, in two digits.
Time enough_for(Time took) {
  const std::int64_t wanted = took.ps + took.ps / 4;
  std::int64_t digit = 1;
  while (digit * 100 <= wanted) digit *= 10;
  return Time{(wanted + digit - 1) / digit * digit};
}

std::string cause_of(const RunRecord& run, const LimitReached& reached) {
  const RpcHop& last = reached.chain.hops.back();
  const std::string worker = worker_name_of(run, last.callee), function = reached.served->details->rpc.function;
  if (reached.queued)
    return fmt::format("all server threads of {} ({}) were busy, one with {} until {}", worker, last.servers, function,
                       to_string(reached.served->finished));
  if (reached.chain.hops.size() > 1)
    return fmt::format("{} waited in {} for {}, which was still running", worker_name_of(run, reached.chain.hops.front().callee), function,
                       rpc_call_text(run, last));
  return fmt::format("{} was still in {} when the limit expired", worker, function);
}

}  // namespace

std::optional<Diagnosis> rpc_timeout_too_short(const Report& report) {
  const std::optional<LimitReached> found = limit_reached(report);
  if (!found) return std::nullopt;
  const auto& [caller, call, chain, served, queued] = *found;
  const Rank server = queued ? chain.hops.back().callee : call->peer;
  const std::string who_asks = worker_name_of(report.run, caller), callee = worker_name_of(report.run, call->peer);
  const Time limit = call->finished - call->issued, took = served->finished - call->issued, enough = enough_for(took);
  Diagnosis d;
  d.ranks = {caller};
  d.evidence.push_back(evidence_of(caller, *call, fmt::format("{} gave up after {}", who_asks, to_string(limit))));
  d.evidence.push_back(evidence_of(server, *served, fmt::format("{} was done with {} at {}", worker_name_of(report.run, server),
                                                                served->details->rpc.function, to_string(served->finished))));
  d.headline = fmt::format("{} (rank {}) gave up {} of {} after {}; {} after {}", who_asks, caller, call->details->rpc.function,
                           callee, to_string(limit), queued ? "a server thread was free" : "it was done", to_string(took));
  d.cause = cause_of(report.run, *found);
  d.why =
      "The limit of a call is its `timeout`, or the rpc_timeout of init_rpc: 60 s if the program gives none. It ends "
      "the call only at the caller. The callee continues and its result is dropped, so calling again does the work "
      "twice.";
  d.fix = fmt::format("give the call more time: timeout={:g} or more", enough.seconds());
  d.fix_lines = {"for all calls: rpc.TensorPipeRpcBackendOptions(rpc_timeout=...); 0 means no limit"};
  if (queued) d.fix_lines.push_back(fmt::format("more server threads at {}: num_worker_threads", worker_name_of(report.run, server)));
  add_span(d, report, call->site.line, call->site.column, fmt::format("{} gave up here", who_asks), true);
  const Mark place = mark_of(call->site);
  if (place.line > 0 && call->details->rpc.server < 0)
    d.cures.push_back({fmt::format("{} with timeout: {}", call->name, to_string(enough)),
                       [place, enough](Scenario& changed) { set_call_timeout(changed.program, place, enough); }, std::nullopt, true});
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: the call began, with a limit of {}", to_string(call->issued), to_string(limit));
  return d;
}

constexpr std::string_view rpc_timeout_too_short_text =
    R"(rpc_sync, rpc_async, remote and to_here end with `RPC ran for more than set timeout` when the reply is not there in time. The
limit is the call's own `timeout`, or the rpc_timeout of init_rpc, which is 60 s. Loading a model, a long simulation episode or
the first call after the start can exceed it without any other mistake.

How to recognise it: the callee's log continues after the error, and shows that the function succeeded. Reported if the
function was running, or waited for a server thread, when the limit expired, and succeeded later.

Fix: a longer timeout for this call, or calls that do less at once.)";

extern const DiagnosisRow rpc_timeout_too_short_row;
const DiagnosisRow rpc_timeout_too_short_row{345, "rpc-timeout-too-short",
                                             "a remote call reached its limit while the callee was still running",
                                             rpc_timeout_too_short, rpc_timeout_too_short_text};

}  // namespace pdsim::scenarios::diagnoses
