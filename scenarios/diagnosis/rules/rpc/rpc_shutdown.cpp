// A worker that others still need has left RPC, or never comes to shutdown.
#include "scenarios/diagnosis/analysis/rpc_waits.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/rpc/rpc_rules.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pdsim::scenarios::diagnoses {
namespace {

const Call* shutdown_of(const RankLog& log) {
  for (const Call& call : log.calls)
    if (call.layer == Layer::rpc && call.name == "shutdown") return &call;
  return nullptr;
}

bool has_joined(const RankLog& log) { return first_note<notes::RpcJoined>(log) != nullptr; }

// When the rank left RPC without the others; nothing where it is in it, or left with them.
std::optional<Time> left_alone(const RankLog& log) {
  if (!has_joined(log)) return std::nullopt;
  const Note* left = first_note<notes::RpcLeft>(log);
  if (left != nullptr) {
    const Call* shutdown = shutdown_of(log);
    const bool in_vain = shutdown != nullptr && shutdown->state == CallState::failed;
    return left->as<notes::RpcLeft>().graceful || in_vain ? std::nullopt : std::optional(left->at);
  }
  return log.end == RankEnd::returned ? std::optional(log.ended) : std::nullopt;
}

// A call of another rank that failed, or hangs, because this one is not there.
struct Needed {
  Rank by = 0;
  const Call* call = nullptr;
};

bool is_victim(const RankLog& log, const Call& call, Rank gone, const Report& report) {
  if (call.layer != Layer::rpc || is_of_server_thread(call)) return false;
  const bool broken = call.state == CallState::failed && call.error == Code::peer_closed;
  if (!broken && !(report.run.deadlocked && is_open_at(call, moment_of(report.run)))) return false;
  return log.rank != gone && (call.peer == gone || call.name == "shutdown");
}

std::optional<Needed> needed(const Report& report, Rank gone) {
  std::optional<Needed> first;
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls)
      if (is_victim(result.log, call, gone, report) && (!first || call.issued < first->call->issued))
        first = Needed{result.log.rank, &call};
  return first;
}

std::string reference_text(const Call& call) {
  return call.details->rpc.function == "to_here" ? "fetches the value of an RRef"
                                                 : fmt::format("calls {}", call.details->rpc.function);
}

Cure leaves_gracefully() {
  return {"every worker calls shutdown with graceful: true",
          [](Scenario& changed) { shut_down_gracefully(changed.program); }, std::nullopt, true};
}

}  // namespace

std::optional<Diagnosis> rpc_worker_left(const Report& report) {
  if (report.outcome == Outcome::ok) return std::nullopt;
  for (const RankResult& result : report.run.ranks) {
    const std::optional<Time> left = left_alone(result.log);
    const std::optional<Needed> victim = left ? needed(report, result.log.rank) : std::nullopt;
    if (!victim) continue;
    const Rank rank = result.log.rank;
    const std::string worker = worker_name_of(report.run, rank), other = worker_name_of(report.run, victim->by);
    const Call* shutdown = shutdown_of(result.log);
    const bool in_shutdown = victim->call->name == "shutdown";
    Diagnosis d;
    d.ranks = {rank};
    d.evidence.push_back(
        evidence_of(victim->by, *victim->call, fmt::format("{} needs {} in {}", other, worker, victim->call->name)));
    if (shutdown != nullptr) d.evidence.push_back(evidence_of(rank, *shutdown, fmt::format("{} left alone", worker)));
    const std::string how = shutdown != nullptr ? "shut down RPC with graceful=False" : "ended without rpc.shutdown()";
    d.headline = in_shutdown ? fmt::format("{} (rank {}) {}, and {} waits for it in shutdown", worker, rank, how, other)
                             : fmt::format("{} (rank {}) {} while {} still {}", worker, rank, how, other,
                                           reference_text(*victim->call));
    d.cause =
        fmt::format("{} left at {}; {} {} at {}", worker, to_string(*left), other,
                    in_shutdown ? "reached shutdown" : reference_text(*victim->call), to_string(victim->call->issued));
    d.why = fmt::format(
        "A worker serves calls and keeps the values that RRefs refer to for as long as it is in RPC. rpc.shutdown() "
        "with graceful=True waits until every worker has called it and every call is over; {} did not wait, so its "
        "values are gone and its peers get `eof`.",
        worker);
    d.fix = "end every worker with rpc.shutdown(), graceful=True, which waits for all others";
    d.fix_lines = {"workers that only serve need it too: rpc.init_rpc(...); rpc.shutdown()"};
    add_span(d, report, victim->call->site.line, victim->call->site.column,
             fmt::format("{} needs {} here", other, worker), true);
    if (shutdown != nullptr)
      add_span(d, report, shutdown->site.line, shutdown->site.column, fmt::format("{} left here", worker), false);
    d.cures.push_back(leaves_gracefully());
    d.inevitable_at = *left;
    d.inevitable = fmt::format("since {}: {} had left", to_string(*left), worker);
    return d;
  }
  return std::nullopt;
}

std::optional<Diagnosis> rpc_shutdown_missing(const Report& report) {
  if (!report.run.deadlocked) return std::nullopt;
  const Time moment = moment_of(report.run);
  std::vector<Rank> missing;
  const Call* waits = nullptr;
  Rank by = 0;
  for (const RankResult& result : report.run.ranks) {
    const Call* shutdown = shutdown_of(result.log);
    if (has_joined(result.log) && shutdown == nullptr) missing.push_back(result.log.rank);
    if (shutdown != nullptr && is_open_at(*shutdown, moment) && waits == nullptr)
      waits = shutdown, by = result.log.rank;
  }
  if (waits == nullptr || missing.empty()) return std::nullopt;
  const BlockedRank* at = blocked_at(report.blocked, missing.front());
  if (at == nullptr || !std::any_of(at->waits_for->begin(), at->waits_for->end(), [&](Rank r) {
        const Call* theirs = shutdown_of(log_of(report.run, r));
        return theirs != nullptr && is_open_at(*theirs, moment);
      }))
    return std::nullopt;  // what keeps it is another cause
  const Call* theirs = call_by_id(log_of(report.run, missing.front()), at->call);
  if (theirs != nullptr && theirs->layer == Layer::rpc) return std::nullopt;  // a worker in shutdown still serves
  const std::string worker = worker_name_of(report.run, missing.front()), other = worker_name_of(report.run, by);
  Diagnosis d;
  d.ranks = missing;
  d.evidence.push_back(evidence_of(by, *waits, fmt::format("{} waits in shutdown", other)));
  if (theirs != nullptr)
    d.evidence.push_back(evidence_of(missing.front(), *theirs, fmt::format("{} waits in {}", worker, theirs->name)));
  d.headline = fmt::format("{} waits in shutdown for {}, which waits in {} for a rank that is in shutdown", other,
                           worker, at->in);
  d.cause = fmt::format("{} called shutdown before {}, and {} calls it only after {}", other, at->in, worker, at->in);
  d.why =
      "rpc.shutdown() with graceful=True returns when every worker has called it. A rank inside it does not continue "
      "its program, so a collective that the other ranks call first never completes.";
  d.fix = fmt::format("let every rank make its other calls before shutdown, {} among them", at->in);
  add_span(d, report, waits->site.line, waits->site.column, fmt::format("{} waits here", other), true);
  if (theirs != nullptr)
    add_span(d, report, theirs->site.line, theirs->site.column, fmt::format("{} waits here", worker), false);
  d.inevitable_at = std::max(waits->issued, at->since);
  d.inevitable = fmt::format("since {}: both were waiting", to_string(d.inevitable_at));
  return d;
}

constexpr std::string_view rpc_worker_left_text =
    R"(When a worker leaves RPC, everything that it serves is gone: functions, and the values that RRefs of other workers refer to.
Calls to it, to_here of its values and the shutdown of the others then fail with `eof`, or with `Followers [...] timed out
in _all_gather`.

There are two common mistakes. One is to call rpc.shutdown(graceful=False) while others still work. The other is to forget
shutdown on workers that only serve: their script ends after init_rpc, and the process with it.

How to recognise it: the error names the worker that is gone, and that worker's own log ends normally, without an error.

Fix: rpc.shutdown() on every worker; graceful=True (the default) waits for all and keeps serving meanwhile.)";

constexpr std::string_view rpc_shutdown_missing_text =
    R"(rpc.shutdown() waits until every worker has called it. If a rank calls it while another still has to make a collective, or
any call that needs this rank's program, it waits forever: the other never reaches shutdown.

How to recognise it: one rank is in shutdown, another in a barrier or all_reduce that the first has not called.

Fix: the same order on every rank; shutdown last.)";

extern const DiagnosisRow rpc_worker_left_row;
const DiagnosisRow rpc_worker_left_row{306, "rpc-worker-left", "a worker left RPC while others still needed it",
                                       rpc_worker_left, rpc_worker_left_text};
extern const DiagnosisRow rpc_shutdown_missing_row;
const DiagnosisRow rpc_shutdown_missing_row{307, "rpc-shutdown-missing",
                                            "a worker waits in shutdown for one that waits for it elsewhere",
                                            rpc_shutdown_missing, rpc_shutdown_missing_text};

}  // namespace pdsim::scenarios::diagnoses
