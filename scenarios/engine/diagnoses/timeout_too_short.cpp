// A call timed out and nothing was wrong but its timeout: the rank it waited for came later, or was at work and on its way.
#include "scenarios/engine/diagnoses.h"
#include "scenarios/engine/diagnoses/messages.h"
#include "scenarios/engine/diagnoses/wording.h"
#include "scenarios/engine/log_view.h"
#include "scenarios/engine/outcome.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Late {
  Rank rank = 0;
  const Call* call = nullptr;  // its own, made too late
  const Call* work = nullptr;  // what it did at the moment of the timeout
  const Note* fault = nullptr;
};

// When the call gave up: a watchdog that ends the process leaves it open.
Time gave_up(const RankLog& log, const Call& call) {
  const bool open = call.state == CallState::issued || call.state == CallState::started;
  return open ? log.ended : call.finished;
}

bool has_timed_out(const RankLog& log, const Call& call) {
  if (call.layer != Layer::collective && call.layer != Layer::point_to_point) return false;
  if (call.state == CallState::issued || call.state == CallState::started)
    return log.end != RankEnd::running && is_timeout(log.error.code);
  return call.state == CallState::timed_out || (call.state == CallState::failed && is_timeout(call.error));
}

const Call* first_timed_out(const Report& report, Rank& rank) {
  const Call* first = nullptr;
  for (const RankResult& result : report.run.ranks)
    for (const Call& call : result.log.calls) {
      if (!has_timed_out(result.log, call)) continue;
      if (first != nullptr && gave_up(result.log, call) >= gave_up(log_of(report.run, rank), *first)) continue;
      first = &call;
      rank = result.log.rank;
    }
  return first;
}

const Call* same_call(const Report& report, Rank rank, const Call& call, Rank caller) {
  if (call.layer == Layer::collective) return collective_at(log_of(report.run, rank), call.group, call.seq);
  return rank == call.peer ? counterpart_of(report, caller, call).call : &call;
}

// The program call that the rank was in at `moment`, if nothing held it there.
const Call* work_at(const RankLog& log, Time moment) {
  if (!is_running_at(log, moment)) return nullptr;
  const Call* at = sits_in(log, moment);
  return at != nullptr && at->layer == Layer::program ? at : nullptr;
}

std::optional<Late> latest(const Report& report, const Call& timed_out, Rank caller) {
  const Time moment = gave_up(log_of(report.run, caller), timed_out);
  std::optional<Late> found;
  for (const RankResult& result : report.run.ranks) {
    const Rank rank = result.log.rank;
    if (rank == caller) continue;
    const Call* theirs = same_call(report, rank, timed_out, caller);
    if (theirs != nullptr && theirs->issued <= moment) continue;
    const std::vector<const Note*> faults = notes_of(result.log, note_kind::fault);
    if (std::any_of(faults.begin(), faults.end(), [](const Note* n) { return fact_text(*n, "kind") == "hang"; }))
      return std::nullopt;
    const Call* work = work_at(result.log, moment);
    if (work == nullptr) return std::nullopt;  // held, or gone: that is the cause
    if (!found || (theirs != nullptr && found->call != nullptr && theirs->issued > found->call->issued))
      found = Late{rank, theirs, work, nullptr};
  }
  return found;
}

// All came in time, and a message was held up.
std::optional<Late> delayed(const Report& report, const Call& timed_out, Time moment) {
  std::optional<Late> found;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of(result.log, note_kind::fault))
      if (fact_text(*note, "kind") == "delay" && note->at >= timed_out.issued && note->at <= moment && !found)
        found = Late{result.log.rank, nullptr, nullptr, note};
  return found;
}

}  // namespace

std::optional<Diagnosis> timeout_too_short(const Report& report) {
  if (report.errors.empty() || !is_timeout(report.errors.front().code)) return std::nullopt;
  Rank caller = 0;
  const Call* call = first_timed_out(report, caller);
  if (call == nullptr) return std::nullopt;
  if (report.divergence && report.divergence->field != "missing" && report.divergence->at <= call->issued)
    return std::nullopt;
  std::optional<Late> late = latest(report, *call, caller);
  if (!late) late = delayed(report, *call, gave_up(log_of(report.run, caller), *call));
  if (!late) return std::nullopt;
  Diagnosis d;
  d.ranks = {late->rank};
  const std::string what = call->seq >= 0 ? fmt::format("{} #{}", call_text(*call), call->seq) : call_text(*call);
  const Time end = gave_up(log_of(report.run, caller), *call);
  const Time waited = end - call->issued;
  d.evidence.push_back(cite(caller, *call, fmt::format("gave up {} after {}", what, to_string(waited))));
  if (late->fault != nullptr) {
    d.evidence.push_back(
        cite(late->rank, *late->fault, fmt::format("a message to rank {} was delayed", fact_text(*late->fault, "to"))));
    d.headline = fmt::format("{} timed out after {}, while a message from rank {} to rank {} was still on its way",
                             what, to_string(waited), late->rank, fact_text(*late->fault, "to"));
    d.cause = fmt::format("a message of rank {} to rank {} was slower than the timeout", late->rank,
                          fact_text(*late->fault, "to"));
  } else {
    const std::string doing = fmt::format("{} {}", late->work->name, site_text(late->work->site));
    d.evidence.push_back(cite(late->rank, *late->work, fmt::format("was at work in {}", late->work->name)));
    d.headline = fmt::format("rank {} gave up {} after {}, while rank {} was still at work in {}", caller, what,
                             to_string(waited), late->rank, late->work->name);
    d.cause = fmt::format("rank {} was in {} when the timeout ended", late->rank, doing);
    if (late->call != nullptr) d.cause += fmt::format("; it came {} later", to_string(late->call->issued - end));
    add_span(d, report.scenario, late->work->site.line, late->work->site.column,
             fmt::format("rank {} was here", late->rank), false);
  }
  d.why = fmt::format("Nobody hung: {}. The timeout of the group, {}, is shorter than {}.", d.cause, to_string(waited),
                      late->fault != nullptr ? "that message took" : "the difference between the ranks");
  d.fix = "world: {timeout: ...} longer than the slowest rank may take (init_process_group(timeout=...))";
  d.fix_lines = {
      "or let the ranks do equal work between two collectives, or end long work of one rank with a barrier "
      "of its own timeout"};
  add_span(d, report.scenario, call->site.line, call->site.column, fmt::format("rank {} waited here", caller), true);
  d.inevitable_at = end;
  d.inevitable = fmt::format("since {}: the timeout ended", to_string(end));
  return d;
}

const std::string_view timeout_too_short_text =
    R"(A collective waits for the slowest rank. Its timeout does not know whether that rank hangs or works: a rank that loads data,
saves a checkpoint, compiles a kernel, or evaluates alone for longer than the timeout makes the others give up, and a job
that would have gone on ends. Defaults are 30 minutes (Gloo) and 10 minutes (NCCL); the store's is 5 minutes.

How to recognise it: the late rank is in code of its own when the others report the timeout, and calls the collective
afterwards, where it finds its peers gone.

Fix: a timeout that is longer than the longest work of one rank, or less work for it: save checkpoints asynchronously, divide
the evaluation, start all ranks with warm caches.)";

}  // namespace pdsim::scenarios::diagnoses
