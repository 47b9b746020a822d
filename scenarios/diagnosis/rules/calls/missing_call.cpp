// Some ranks of a group never made a call that the others wait in: they finished, or are stuck somewhere else. A rank that is
// only slow is not a case for this rule.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/calls/other_calls.h"
#include "scenarios/diagnosis/rules/calls/recorded_calls.h"
#include "scenarios/diagnosis/rules/calls/sharded_calls.h"
#include "scenarios/diagnosis/rules/init/late_to_init.h"
#include "scenarios/diagnosis/rules/training/unsent_gradients.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pdsim::scenarios::diagnoses {
namespace {

bool has_finished(const Report& report, Rank rank) {
  const RankLog& log = log_of(report.run, rank);
  return !is_running_at(log, moment_of(report.run)) && log.end == RankEnd::returned;
}

// The call of the store that a rank gave up, which the others' call may have been waiting for; null: it did not end so.
const Call* gave_up_store(const RankLog& log) {
  if (log.end != RankEnd::raised || log.error.code != Code::store_timeout) return nullptr;
  const auto last =
      std::find_if(log.calls.rbegin(), log.calls.rend(), [](const Call& c) { return c.layer == Layer::store; });
  if (last == log.calls.rend() || last->state == CallState::completed) return nullptr;
  const Call* around = call_by_id(log, last->parent);  // else a library's own, as that of NCCL's communicators
  return around == nullptr || around->name.starts_with("store_") ? &*last : nullptr;
}

// Where a rank is that did not come; empty when it may only be late, or is held by something earlier in the same group.
std::string whereabouts(const Report& report, Rank rank) {
  const RankLog& log = log_of(report.run, rank);
  if (has_finished(report, rank)) return "had finished its program";
  if (const Call* store = gave_up_store(log))
    return fmt::format("waited for the key {} of the store", text_of(store->purpose));
  if (!is_running_at(log, moment_of(report.run))) return {};
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

// True if only a few members came and the others have all ended after the same call: those few made one call more.
bool came_alone(const Report& report, const std::vector<Rank>& came, const Call& call) {
  const Hang& hang = *report.hang;
  if (came.size() >= hang.ends.size()) return false;
  const Call* first = nullptr;
  return std::all_of(hang.ends.begin(), hang.ends.end(), [&](Rank rank) {
    const RankLog& log = log_of(report.run, rank);
    const Call* last = call.seq > 0 ? collective_at(log, call.group, call.seq - 1) : nullptr;
    if (first == nullptr) first = last;
    return last != nullptr && last->id == log.calls.back().id && last->name == first->name;
  });
}

std::string in_turn(const Report& report, const std::vector<Rank>& here) {
  std::vector<Rank> rest;  // both are sorted
  std::set_difference(report.hang->waiting.begin(), report.hang->waiting.end(), here.begin(), here.end(),
                      std::back_inserter(rest));
  return rest.empty() ? std::string()
                      : fmt::format(" {} in other calls, for these ranks or for ranks that wait for them.",
                                    capitalised(who(rest, "waits", "wait")));
}

// Handles a dump whose wait graph ends in ranks that did not reach a collective.
std::optional<Diagnosis> missing_from_dump(const Report& report) {
  const Hang& hang = *report.hang;
  const Call* call = hang.end == HangEnd::absent ? common_call(report, hang.nearest) : nullptr;
  if (call == nullptr) return std::nullopt;
  const std::vector<Rank> here = ranks_in(report, hang.nearest, *call);
  const std::string culprits = short_ranks(hang.ends), where = number_and_group(*call);
  const bool one = hang.ends.size() == 1;
  Diagnosis d;
  d.ranks = hang.ends;
  d.waiting = hang.waiting;
  const bool is_over = call->error == Code::watchdog_timeout;  // they gave it up
  d.headline = fmt::format("{} in {} for {}, which {} not called it",
                           is_over ? who(here, "waited", "waited") : who(here, "waits", "wait"), name_and_number(*call),
                           culprits, is_over ? "had" : one ? "has" : "have");
  for (const Rank rank : hang.ends) {
    const RankLog& log = log_of(report.run, rank);
    if (d.evidence.size() < 4)
      d.evidence.push_back({rank, log.calls.empty() ? -1 : log.calls.back().id, last_deed(report, rank, call->group)});
  }
  const std::string deed = last_deed(report, hang.ends.front(), call->group);
  d.cause = fmt::format("{} did not reach {}; {} {}", culprits, where,
                        one ? "it" : fmt::format("rank {}", hang.ends.front()), deed);
  d.why = fmt::format("{} {}{}. {} {} not: {} {}.{}{}", capitalised(who(here, "has reached", "have reached")), where,
                      at_place(*call), capitalised(culprits), one ? "has" : "have",
                      one ? "it" : fmt::format("rank {}", hang.ends.front()), deed, in_turn(report, here),
                      age_sentence(report));
  d.fix = fmt::format("make this call on every rank of group {}, or on none", call->group);
  d.next = look_at(report, hang.ends);
  d.fix_lines = {"in the program, look for a loop that runs more times on some ranks (uneven data), an early return, "
                 "an exception, or an `if rank == ...`"};
  d.evidence.push_back(evidence_of(here.front(), *call, fmt::format("waits in {}", where)));
  if (came_alone(report, here, *call)) {
    d.ranks = here;
    d.waiting.clear();
    d.headline = fmt::format("{} in {}, which only {} called; {} did not", who(here, "waits", "wait"),
                             name_and_number(*call), here.size() == 1 ? "it" : "they", culprits);
    d.cause = fmt::format("{} made a call that the others did not make: {}", short_ranks(here), where);
    d.why = fmt::format("{} {}{}, and {} in it. For {} the call before it is the last.{}",
                        capitalised(who(here, "called", "called")), where, at_place(*call),
                        here.size() == 1 ? "waits" : "wait", culprits, age_sentence(report));
    d.next = look_at(report, here);
  }
  d.inevitable_at = call->issued;
  return d;
}

// The same of all that did not come, by where the first of them is.
std::string whereabouts(const Report& report, const std::vector<Rank>& ranks) {
  return ranks.size() > 1 && has_finished(report, ranks.front()) ? "had finished their programs" : whereabouts(report, ranks.front());
}

// The loops of a script are known only by the places of its calls. Says how many rounds each rank made, if the missing ranks have
// ended.
std::string loop_text(const Report& report, const std::vector<Rank>& missing, Rank waiting, const Call& call) {
  const bool all_ended = std::all_of(missing.begin(), missing.end(), [&](Rank r) { return has_finished(report, r); });
  if (!all_ended || call.site.origin->frames.empty()) return {};
  const std::optional<LoopRounds> rounds = rounds_of(report.run, {waiting, call.id});
  return rounds ? " " + rounds_text(report, *rounds) : std::string();
}

std::optional<Diagnosis> missing_from_record(const Report& report) {
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
  d.evidence.push_back(evidence_of(waiting.front(), *call, fmt::format("waits in {} #{}", call_text(*call), at.seq)));
  const std::vector<Rank> missing = d.ranks;
  const std::string culprits = short_ranks(missing);
  d.headline = fmt::format("{} in {} #{} for {}, which never called it", who(waiting, "waits", "wait"),
                           call_text(*call), at.seq, culprits);
  d.cause =
      fmt::format("{} never called {} #{} of group {}; it {}", culprits, call_text(*call), at.seq, at.group, where);
  if (d.ranks.size() > 1)
    d.cause = fmt::format("{} never called {} #{} of group {}; rank {} {}", culprits, call_text(*call), at.seq,
                          at.group, d.ranks.front(), where);
  d.why = fmt::format(
      "Every rank of a group must make the same calls in the same order. {} reached {}, call #{} of group {}. "
      "Meanwhile {} "
      "{}, so the call can never complete.{}",
      capitalised(short_ranks(waiting)), call_text(*call), at.seq, at.group, culprits, whereabouts(report, missing),
      loop_text(report, missing, waiting.front(), *call));
  d.fix = fmt::format("make this call on every rank of group {}, or on none", at.group);
  d.fix_lines = {
      "look for a loop that runs more times on some ranks (uneven data), an early return, or an `if rank == ...`"};
  if (at.minority == waiting) {  // most ranks agree that there is no such call
    d.cause = fmt::format("only {} called {} #{} of group {}; {} never did", short_ranks(waiting), call_text(*call),
                          at.seq, at.group, culprits);
    d.ranks = waiting;
  }
  add_span(d, report, call->site.line, call->site.column,
           fmt::format("{}, {}", who(waiting, "comes here", "come here"), who(missing, "never does", "never do")),
           true);
  Time latest = call->issued;
  for (const Rank rank : missing) {
    const RankLog& log = log_of(report.run, rank);
    if (log.end == RankEnd::returned) latest = std::max(latest, log.ended);
  }
  d.inevitable_at = latest;
  d.inevitable = fmt::format("since {}: {} {} and {} called {} #{}", to_string(latest), culprits,
                             whereabouts(report, missing), short_ranks(waiting), call_text(*call), at.seq);
  return d;
}

}  // namespace

std::optional<Diagnosis> missing_call(const Report& report) {
  if (std::optional<Diagnosis> found = recorded_calls(report, Face::missing)) return found;
  if (report.hang) return missing_from_dump(report);
  std::optional<Diagnosis> found = other_calls(report, Face::missing);
  if (!found && report.outcome != Outcome::ok) found = absent_from_init(report);
  if (!found) found = missing_from_record(report);
  if (!found) return found;
  explain_missing_unit(*found, report);
  explain_unsent_gradients(*found, report);
  return found;
}

constexpr std::string_view missing_call_text =
    R"(Some ranks wait in a collective that another rank never calls: it returned early, ran its loop one time fewer because its
share of the data was smaller, took the other branch of an `if rank == 0`, or waits for a message of its own.

How to recognise it: the last sequence number of one rank is smaller than that of the others, and that rank is not in a
collective of this group.

Fix: the same number of collectives on every rank: equal shares (DistributedSampler pads), join() for uneven inputs, and no
collective inside a branch that only some ranks take.)";

extern const DiagnosisRow missing_call_row;
const DiagnosisRow missing_call_row{470, "missing-call", "a rank never made a call in which the others wait",
                                    missing_call, missing_call_text};

}  // namespace pdsim::scenarios::diagnoses
