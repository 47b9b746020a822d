// Some ranks of a group never made a call that the others wait in: they finished, or are stuck somewhere else. A rank that is
// only slow is not a case for this rule.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/other_calls.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::diagnoses {
namespace {

// Where a rank is that did not come; empty when it may only be late, or is held by something earlier in the same group.
std::string whereabouts(const Report& report, Rank rank) {
  const RankLog& log = log_of(report.run, rank);
  if (!is_running_at(log, moment_of(report.run)))
    return log.end == RankEnd::returned ? "had finished its program" : std::string();
  if (!report.run.deadlocked) return {};
  const Call* call = sits_in(log, moment_of(report.run));
  if (call == nullptr) return outside_of_calls(log);
  if (call->layer == Layer::program)
    return !has_note<notes::Fault>(log) ? std::string() : fmt::format("hung in {}", call->name);
  if (call->layer == Layer::collective && call->group == report.divergence->group) return {};
  if (call->layer == Layer::collective)
    return fmt::format("sat in {} #{} of group {}", call_text(*call), call->seq, call->group);
  return fmt::format("sat in {}", call_text(*call));
}

}  // namespace

std::optional<Diagnosis> missing_call(const Report& report) {
  if (std::optional<Diagnosis> found = other_calls(report, Face::missing)) return found;
  if (!report.divergence || report.divergence->field != DivergenceKind::missing || report.outcome == Outcome::ok)
    return std::nullopt;
  const Divergence& at = *report.divergence;
  Diagnosis d;
  std::vector<Rank> waiting;
  const Call* call = nullptr;
  std::string where;
  for (const Divergence::Entry& entry : at.entries) {
    if (entry.id >= 0) {
      const Call* theirs = call_by_id(log_of(report.run, entry.rank), entry.id);
      if (theirs == nullptr || (theirs->state == CallState::completed && !is_open_at(*theirs, moment_of(report.run))))
        continue;
      waiting.push_back(entry.rank);
      if (call == nullptr) call = theirs;
      continue;
    }
    const std::string place = whereabouts(report, entry.rank);
    if (place.empty()) return std::nullopt;
    if (where.empty()) where = place;
    d.ranks.push_back(entry.rank);
    const RankLog& log = log_of(report.run, entry.rank);
    if (d.evidence.size() < 4)
      d.evidence.push_back(
          {entry.rank, log.calls.empty() ? -1 : log.calls.back().id,
           fmt::format("never called {} #{}: it {}", call != nullptr ? call_text(*call) : "it", at.seq, place)});
  }
  if (call == nullptr || d.ranks.empty()) return std::nullopt;
  d.evidence.push_back(cite(waiting.front(), *call, fmt::format("waits in {} #{}", call_text(*call), at.seq)));
  const std::vector<Rank> missing = d.ranks;
  const std::string culprits = ranks_text(missing);
  d.headline = fmt::format("{} in {} #{} for {}, which never called it", who(waiting, "waits", "wait"),
                           call_text(*call), at.seq, culprits);
  d.cause =
      fmt::format("{} never called {} #{} of group {}; it {}", culprits, call_text(*call), at.seq, at.group, where);
  if (d.ranks.size() > 1)
    d.cause = fmt::format("{} never called {} #{} of group {}; rank {} {}", culprits, call_text(*call), at.seq,
                          at.group, d.ranks.front(), where);
  d.why = fmt::format(
      "Every rank of a group must make the same calls in the same order. {} came to {}, call #{} of group {}. "
      "Meanwhile {} "
      "{}, so the call can never complete.",
      capitalised(ranks_text(waiting)), call_text(*call), at.seq, at.group, culprits, where);
  d.fix = fmt::format("let every rank of group {} make this call, or none", at.group);
  d.fix_lines = {
      "look for a loop that runs more often on some ranks (uneven data), an early return, or an `if rank == ...`"};
  if (at.minority == waiting) {  // most ranks agree that there is no such call
    d.cause = fmt::format("only {} called {} #{} of group {}; {} never did", ranks_text(waiting), call_text(*call),
                          at.seq, at.group, culprits);
    d.ranks = waiting;
  }
  add_span(d, report, call->site.line, call->site.column,
           fmt::format("{} {}, {} never does", ranks_text(waiting), waiting.size() == 1 ? "comes here" : "come here",
                       culprits),
           true);
  Time latest = call->issued;
  for (const Rank rank : missing) {
    const RankLog& log = log_of(report.run, rank);
    if (log.end == RankEnd::returned) latest = std::max(latest, log.ended);
  }
  d.inevitable_at = latest;
  d.inevitable = fmt::format("since {}: {} {} and {} called {} #{}", to_string(latest), culprits, where,
                             ranks_text(waiting), call_text(*call), at.seq);
  return d;
}

constexpr std::string_view missing_call_text =
    R"(Some ranks wait in a collective that another rank never calls: it returned early, ran its loop one time less because its
share of the data was smaller, took the other branch of an `if rank == 0`, or waits for a message of its own.

How to recognise it: the last sequence number of one rank is smaller than that of the others, and that rank is not in a
collective of this group.

Fix: the same number of collectives on every rank: equal shares (DistributedSampler pads), join() for uneven inputs, and no
collective inside a branch that only some ranks take.)";

extern const DiagnosisRow missing_call_row;
const DiagnosisRow missing_call_row{470, "missing-call", "a rank never made a call that the others wait in",
                                    missing_call, missing_call_text};

}  // namespace pdsim::scenarios::diagnoses
