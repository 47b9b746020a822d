// A call timed out and nothing was wrong but its timeout. delayed-enter: the rank it waited for came later, or was at work and
// on its way. timeout-too-short: every rank had come, and the call was still at work.
#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/init/late_to_init.h"
#include "scenarios/diagnosis/rules/messages/messages.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

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
  return is_unfinished(call) ? log.ended : call.finished;
}

bool has_timed_out(const RankLog& log, const Call& call) {
  if (call.layer != Layer::collective && call.layer != Layer::point_to_point) return false;
  if (is_unfinished(call)) return log.end != RankEnd::running && is_timeout(log.error.code);
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

const Call* matching_call(const Report& report, Rank rank, const Call& call, Rank caller) {
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
    const Call* theirs = matching_call(report, rank, timed_out, caller);
    if (theirs != nullptr && theirs->issued <= moment) continue;
    if (stop_of(result.log, Time::max()) != nullptr) return std::nullopt;
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
    for (const Note* note : notes_of<notes::Fault>(result.log))
      if (note->as<notes::Fault>().fault == FaultKind::delay && note->at >= timed_out.issued &&
          note->at <= moment && !found)
        found = Late{result.log.rank, nullptr, nullptr, note};
  return found;
}

// The call that timed out, if nothing else had gone wrong before.
struct TimedOut {
  Rank caller = 0;            // the first that gave up
  std::vector<Rank> callers;  // all that gave up this call
  const Call* call = nullptr;
  Time issued{}, end{};
  std::string what;
};

std::optional<TimedOut> timed_out(const Report& report) {
  if (report.errors.empty() || !is_timeout(first_cause(report.errors).code)) return std::nullopt;
  TimedOut t;
  t.call = first_timed_out(report, t.caller);
  if (t.call == nullptr) return std::nullopt;
  if (report.divergence && report.divergence->field != DivergenceKind::missing &&
      report.divergence->at <= t.call->issued)
    return std::nullopt;
  for (const RankResult& result : report.run.ranks) {
    const Call* theirs = result.log.rank == t.caller ? t.call : nullptr;
    if (theirs == nullptr && t.call->layer == Layer::collective)
      theirs = collective_at(result.log, t.call->group, t.call->seq);
    if (theirs != nullptr && has_timed_out(result.log, *theirs)) t.callers.push_back(result.log.rank);
  }
  t.issued = t.call->issued;
  t.end = gave_up(log_of(report.run, t.caller), *t.call);
  t.what = name_and_number(*t.call);
  return t;
}

Diagnosis about(const Report& report, const TimedOut& t) {
  Diagnosis d;
  const std::string waited = to_string(t.end - t.issued);
  d.evidence.push_back(evidence_of(t.caller, *t.call, fmt::format("gave up {} after {}", t.what, waited)));
  add_span(d, report, t.call->site.line, t.call->site.column, who(t.callers, "waited", "waited") + " here", true);
  d.inevitable_at = t.end;
  d.inevitable = fmt::format("since {}: the timeout expired", to_string(t.end));
  return d;
}

// Whether every rank that the call needs had made it and was still there.
bool all_had_come(const Report& report, const TimedOut& t) {
  const std::vector<char> members = group_members(report.run, t.call->group);
  for (std::size_t r = 0; r < members.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    const bool needed = t.call->layer == Layer::collective ? members[r] != 0 : rank == t.call->peer;
    if (!needed || rank == t.caller) continue;
    const Call* theirs = matching_call(report, rank, *t.call, t.caller);
    const RankLog& log = log_of(report.run, rank);
    const bool gone = log.end != RankEnd::running && log.ended < t.end &&
                      (log.end != RankEnd::returned || theirs == nullptr || theirs->state != CallState::completed);
    if (theirs == nullptr || theirs->issued > t.end || gone || stop_of(log, Time::max()) != nullptr) return false;
  }
  return true;
}

// Losses that nobody noted would look the same.
bool loses_messages(const Report& report) {
  return std::any_of(report.run.ranks.begin(), report.run.ranks.end(),
                     [](const RankResult& result) { return has_note<notes::LossyLinks>(result.log); });
}

}  // namespace

std::optional<Diagnosis> delayed_enter(const Report& report) {
  const std::optional<TimedOut> t = timed_out(report);
  const std::optional<Late> late = t ? latest(report, *t->call, t->caller) : std::nullopt;
  if (!late) return late_to_init(report);
  Diagnosis d = about(report, *t);
  d.ranks = {late->rank};
  const std::string waited = to_string(t->end - t->issued);
  const Call& work = *late->work;
  // The operation itself, or a part of it: forward in step 2.
  const std::string doing = work.name == work.site.op && work.site.step < 0
                                ? fmt::format("`{}`", work.name)
                                : fmt::format("`{}` {}", work.name, site_text(work.site));
  d.evidence.push_back(evidence_of(late->rank, work, fmt::format("was at work in {}", work.name)));
  d.headline = fmt::format("{} gave up {} after {}, while rank {} was still at work in {}", short_ranks(t->callers),
                           t->what, waited, late->rank, work.name);
  d.cause = fmt::format("rank {} was still in {} when the timeout expired", late->rank, doing);
  if (late->call != nullptr) d.cause += fmt::format("; it arrived {} later", to_string(late->call->issued - t->end));
  add_span(d, report, work.site.line, work.site.column, fmt::format("rank {} was here", late->rank), false);
  d.why = fmt::format("No rank hung: {}. The {} timeout is shorter than the gap between the ranks.", d.cause, waited);
  d.fix = "give the ranks equal work between two collectives, or set a timeout longer than the slowest rank may take";
  d.fix_lines = {
      alternative("world: {timeout: ...}   (init_process_group(timeout=...))",
                  "init_process_group(..., timeout=timedelta(...)) longer than that"),
      alternative(
          "let the others wait for one rank's long work in a separate group with a longer timeout:  new_group: "
          "{timeout: ...}",
          "let the others wait for one rank's long work in a separate group: dist.new_group(timeout=...)")};
  return d;
}

std::optional<Diagnosis> timeout_too_short(const Report& report) {
  const std::optional<TimedOut> t = timed_out(report);
  if (!t) return std::nullopt;
  Diagnosis d = about(report, *t);
  const std::string waited = to_string(t->end - t->issued);
  if (const std::optional<Late> late = delayed(report, *t->call, t->end)) {
    const Rank to = late->fault->as<notes::Fault>().to;
    d.ranks = {late->rank};
    d.evidence.push_back(evidence_of(late->rank, *late->fault, fmt::format("a message to rank {} was delayed", to)));
    d.headline = fmt::format("{} timed out after {}, while a message from rank {} to rank {} was still on its way",
                             t->what, waited, late->rank, to);
    d.cause = fmt::format("a message of rank {} to rank {} was slower than the timeout", late->rank, to);
  } else if (!report.run.deadlocked && all_had_come(report, *t) && !loses_messages(report)) {
    d.ranks = {t->caller};
    d.headline = fmt::format("{} gave up {} after {}, while all ranks were in it and it was still moving data",
                             short_ranks(t->callers), t->what, waited);
    d.cause = fmt::format("every rank had reached {}, which needs longer than {}", t->what, waited);
  } else {
    return std::nullopt;
  }
  d.why = fmt::format("No rank hung and no rank was late: {}. The timeout, {}, is shorter than the call takes.", d.cause,
                      waited);
  d.fix = {"world: {timeout: ...} longer than the call takes (init_process_group(timeout=...))",
           "init_process_group(..., timeout=timedelta(...)) longer than the call takes"};
  d.fix_lines = {alternative("move less data at once, or use a faster link")};
  return d;
}

constexpr std::string_view delayed_enter_text =
    R"(A collective waits for the slowest rank. Its timeout cannot distinguish a rank that hangs from one that works: if a rank
loads data, saves a checkpoint, compiles a kernel, or evaluates alone for longer than the timeout, the others give up, and a
job that would have continued ends. Defaults are 30 minutes (Gloo) and 10 minutes (NCCL); the store's is 5 minutes.

How to recognise it: the late rank is outside any collective when the others report the timeout, and calls the collective
afterwards, where it finds its peers gone. A monitored barrier before the collective names it.

Fix: give all ranks equal work, or the late one less: save checkpoints asynchronously, divide the evaluation, start all
ranks with warm caches. Otherwise set a timeout longer than the longest work of one rank.)";

constexpr std::string_view timeout_too_short_text =
    R"(Every rank had reached the call, and it was still moving data when its timeout expired: a large message over a slow link, a link
that slowed down, or a timeout that was chosen for smaller tensors or fewer ranks.

How to recognise it: all ranks report the timeout of the same call, and with a longer timeout it completes. A rank that came
late is delayed-enter; a call that would never complete is all-stuck or message-lost.

Fix: compute the time that the call needs (`pdsim bench`: bytes over bandwidth, rounds times latency) and give it a timeout well
above that, or move less data at once.)";

extern const DiagnosisRow delayed_enter_row;
const DiagnosisRow delayed_enter_row{330, "delayed-enter",
                                     "a call timed out while a rank it waited for was still at work elsewhere",
                                     delayed_enter, delayed_enter_text};
extern const DiagnosisRow timeout_too_short_row;
const DiagnosisRow timeout_too_short_row{340, "timeout-too-short",
                                         "a call timed out while every rank was in it and it was still moving data",
                                         timeout_too_short, timeout_too_short_text};

}  // namespace pdsim::scenarios::diagnoses
