#include "scenarios/diagnosis/rules/calls/other_calls.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/schedule_difference.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/calls/call_advice.h"
#include "scenarios/diagnosis/rules/calls/loop_rounds.h"
#include "scenarios/diagnosis/rules/program_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

const ScheduledSite& site_at(const Report& report, int site) {
  return report.schedule.sites[static_cast<std::size_t>(site)];
}

// "all_reduce at line 15 (log_a)"
std::string place_of(const ScheduledSite& site) {
  const std::string label = site.label.empty() ? "" : fmt::format(" ({})", site.label);
  return fmt::format("{} at line {}{}", site.operation, site.mark.line, label);
}

// ", step 1", ", steps 1 to 3"; empty outside of loops.
std::string steps_text(const std::vector<int>& steps) {
  if (steps.empty() || steps.front() < 0) return {};
  if (steps.size() == 1) return fmt::format(", step {}", steps.front());
  const bool in_a_row = steps.back() - steps.front() == static_cast<int>(steps.size()) - 1;
  if (in_a_row) return fmt::format(", steps {} to {}", steps.front(), steps.back());
  constexpr std::size_t most = 8;
  std::vector<std::string> numbers;
  for (const int step : steps) numbers.push_back(std::to_string(step));
  if (numbers.size() > most) numbers.resize(most), numbers.push_back("...");
  return ", steps " + list_text(numbers);
}

std::string calls_text(const Report& report, const std::vector<CallsApart>& calls) {
  std::vector<std::string> places;
  for (const CallsApart& c : calls) places.push_back(place_of(site_at(report, c.site)) + steps_text(c.steps));
  return fmt::format("{}", fmt::join(places, "; "));
}

// "a call", "four calls"
std::string number_of(const std::vector<CallsApart>& calls) {
  constexpr std::array<std::string_view, 13> words{"no",  "a",     "two",   "three", "four", "five",   "six",
                                                   "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  const std::size_t count = count_of(calls);
  const std::string number = count < words.size() ? std::string(words[count]) : std::to_string(count);
  return fmt::format("{} call{}", number, count == 1 ? "" : "s");
}

bool replaces(const Report& report, const ScheduleDifference& d) {
  return d.left_out.size() == 1 && d.extra.size() == 1 && count_of(d.left_out) == count_of(d.extra) &&
         d.left_out.front().steps == d.extra.front().steps && d.met && d.met->mine->site.line != d.met->theirs->site.line &&
         d.met->mine->site.line == site_at(report, d.extra.front().site).mark.line &&
         d.met->theirs->site.line == site_at(report, d.left_out.front().site).mark.line;
}

std::string moved_text(const Report& report, const ScheduleDifference& d) {
  const CallMoved& moved = d.moved.front();
  const bool both = moved.mine != moved.theirs;
  const std::string mine = place_of(site_at(report, moved.mine));
  const std::string theirs = both ? fmt::format(", {} {}", who(d.others, "makes it", "make it"),
                                                fmt::format("at line {}", site_at(report, moved.theirs).mark.line))
                                  : std::string();
  const std::string step = moved.step >= 0 ? fmt::format(" in step {}", moved.step) : std::string();
  const std::string past =
      moved.past >= 0 ? fmt::format(" than {}", place_of(site_at(report, moved.past))) : std::string();
  return fmt::format("{} these two in the other order{}: {} stands on the other side{}{}", who(d.culprits, "runs", "run"),
                     step, mine, past.empty() ? std::string() : " of" + past.substr(5), theirs);
}

// "rank 2 runs forward and backward at line 23 inside of no_sync, step 1, where ranks 0, 1, 3 synchronise"
std::string held_back_text(const Report& report, const ScheduleDifference& d) {
  std::vector<std::string> operations;
  for (const CallsApart& c : d.held_back) add_once(operations, {site_at(report, c.site).operation});
  const CallsApart& first = d.held_back.front();
  return fmt::format("{} {} at line {} inside of no_sync{}, where {}", who(d.culprits, "runs", "run"), fmt::join(operations, " and "),
                     site_at(report, first.site).mark.line, steps_text(first.steps), who(d.others, "synchronises", "synchronise"));
}

std::string headline_of(const Report& report, const ScheduleDifference& d) {
  if (!d.held_back.empty()) return held_back_text(report, d);
  const std::string others = short_ranks(d.others);
  const bool one = d.others.size() == 1;
  if (replaces(report, d))
    return fmt::format("{} {} where {} {} {}", who(d.culprits, "calls", "call"),
                       place_of(site_at(report, d.extra.front().site)), others, one ? "calls" : "call",
                       place_of(site_at(report, d.left_out.front().site)) + steps_text(d.left_out.front().steps));
  std::vector<std::string> parts;
  if (!d.left_out.empty())
    parts.push_back(fmt::format("{} {} that {} {}: {}", d.culprits.size() == 1 ? "leaves out" : "leave out",
                                number_of(d.left_out), others, one ? "makes" : "make", calls_text(report, d.left_out)));
  if (!d.extra.empty())
    parts.push_back(fmt::format("{} {} that {} {} not make: {}", d.culprits.size() == 1 ? "makes" : "make",
                                number_of(d.extra), others, one ? "does" : "do", calls_text(report, d.extra)));
  if (parts.empty()) return moved_text(report, d);
  return fmt::format("{} {}", short_ranks(d.culprits), fmt::join(parts, ", and "));
}

std::string recorded_place(const Call& call) {
  const std::string label = call.site.origin->label.empty() ? "" : fmt::format(" ({})", call.site.origin->label);
  const std::string step = call.site.step >= 0 ? fmt::format(", step {}", call.site.step) : std::string();
  return fmt::format("{} at line {}{}{}", call_text(call), call.site.line, label, step);
}

// With what the operation called, where that is the wrapper's.
std::string cause_of(const Report& report, const ScheduleDifference& d) {
  if (!d.met)
    return fmt::format("{}; the first of these is {} #{} on rank {}", headline_of(report, d), call_text(*d.first),
                       d.first->seq, d.first_rank);
  return fmt::format("{}; so #{} is {} on rank {} and {} on rank {}", headline_of(report, d), d.met->mine->seq,
                     recorded_place(*d.met->mine), d.met->my_rank, recorded_place(*d.met->theirs), d.met->their_rank);
}

// Whether one side only lacks calls, so that the two never come back into step.
bool stays_shifted(const ScheduleDifference& d) { return d.moved.empty() && d.extra.empty() != d.left_out.empty(); }

// " Rank 2 went on to recv from rank 1, which is in all_gather #1."; empty where no culprit waits for a message.
std::string went_on_text(const Report& report, const ScheduleDifference& d) {
  const auto waiter = std::find_if(d.culprits.begin(), d.culprits.end(), [&](Rank r) {
    const Call* call = call_held_in(report.run, r);
    return call != nullptr && call->layer == Layer::point_to_point && call->peer >= 0;
  });
  if (waiter == d.culprits.end()) return {};
  const Call& message = *call_held_in(report.run, *waiter);
  const Call* other = call_held_in(report.run, message.peer);
  return fmt::format(" Rank {} went on to {} {} rank {}{}.", *waiter, message.name, message.name == "send" ? "to" : "from", message.peer,
                     other == nullptr ? "" : fmt::format(", which is in {}", name_and_number(*other)));
}

std::string why_of(const Report& report, const ScheduleDifference& d) {
  std::string why = loops_text(report, d);
  why +=
      "The collectives of a group have no names: the n-th call of one rank meets the n-th call of every other. ";
  if (!d.met) return why + "The ranks that make the call wait for those that do not." + went_on_text(report, d);
  const Call &mine = *d.met->mine, &theirs = *d.met->theirs;
  why += fmt::format("At #{} of group {}, {} of rank {} meets {} of rank {}{}.", mine.seq,
                     d.group, recorded_place(mine), d.met->my_rank, recorded_place(theirs), d.met->their_rank,
                     stays_shifted(d) ? ", and all later calls are shifted as well" : "");
  const bool fits = same_call(mine, theirs) && mine.details->receives == theirs.details->receives, carries = mine.name != "barrier";
  if (fits && report.outcome == Outcome::ok)
    why += carries ? " Operation, size and element type agree, so the library reports no error: the values of two "
                     "different calls are mixed on every rank."
                   : " The library cannot tell the two calls apart, so it reports no error.";
  else if (fits)
    why += fmt::format(
        " {} there, so that pair completes{}; the ranks stop only where two calls differ, or where one rank has no "
        "call left.",
        carries ? "Operation, size and element type agree" : "The library cannot tell the two calls apart",
        carries ? ", with values of two different calls" : "");
  else if (report.outcome == Outcome::ok)
    why += " No call failed and no error was reported: the ranks now hold wrong data.";
  if (d.tie) why += " Both sides have the same number of ranks, so the record cannot say which of them is right.";
  return why;
}

void add_places(Diagnosis& found, const Report& report, const ScheduleDifference& d) {
  constexpr std::size_t most = 8;
  const auto add = [&](int index, const std::string& label) {
    const Mark& mark = site_at(report, index).mark;
    const bool known = std::any_of(found.spans.begin(), found.spans.end(), [&](const Span& s) { return s.line == mark.line; });
    if (!known && found.spans.size() < most) add_span(found, report, mark.line, mark.column, label, found.spans.empty());
  };
  for (const CallsApart& c : d.held_back)
    add(c.site, fmt::format("inside of no_sync on {}{}", short_ranks(d.culprits), steps_text(c.steps)));
  for (const CallsApart& c : d.left_out)
    add(c.site, fmt::format("{}, {}{}", who(d.others, "makes this call", "make this call"),
                            who(d.culprits, "does not", "do not"), steps_text(c.steps)));
  for (const CallsApart& c : d.extra)
    add(c.site, fmt::format("{}{}, {}", who(d.culprits, "makes this call", "make this call"), steps_text(c.steps),
                            who(d.others, "does not", "do not")));
  for (const CallMoved& m : d.moved) {
    add(m.mine, fmt::format("{} it here", who(d.culprits, "makes", "make")));
    add(m.theirs, fmt::format("{} it here", who(d.others, "makes", "make")));
    if (m.past >= 0) add(m.past, "on the other side of this call");
  }
  if (!d.met) return;
  for (const auto& [call, rank] : {std::pair{d.met->mine, d.met->my_rank}, std::pair{d.met->theirs, d.met->their_rank}})
    if (std::none_of(found.spans.begin(), found.spans.end(), [&c = call](const Span& s) { return s.line == c->site.line; }))
      add_span(found, report, call->site.line, call->site.column, fmt::format("#{} of rank {}", call->seq, rank), false);
}

void cite_calls(Diagnosis& found, const ScheduleDifference& d) {
  found.evidence.push_back(evidence_of(d.first_rank, *d.first, fmt::format("made {}, which is not in the program of {}",
                                                                    recorded_place(*d.first),
                                                                    contains(d.culprits, d.first_rank)
                                                                        ? short_ranks(d.others)
                                                                        : short_ranks(d.culprits))));
  if (!d.met) return;
  found.evidence.push_back(evidence_of(d.met->my_rank, *d.met->mine, fmt::format("#{}: {}", d.met->mine->seq, recorded_place(*d.met->mine))));
  found.evidence.push_back(
      evidence_of(d.met->their_rank, *d.met->theirs, fmt::format("#{}: {}", d.met->theirs->seq, recorded_place(*d.met->theirs))));
}

// An evaluation through the wrapper, which broadcasts buffers, has a story of its own (collective_mismatch.cpp).
bool is_evaluation(const Report& report, const ScheduleDifference& d) {
  if (d.first->purpose.kind == PurposeKind::layer) return false;
  const auto evaluates = [&](const CallsApart& c) { return site_at(report, c.site).operation == "eval"; };
  return d.moved.empty() && d.left_out.empty() && std::all_of(d.extra.begin(), d.extra.end(), evaluates);
}

// Whether the ranks only differ in which line makes a backward or forward of the step, and the wrapper's own calls met their like: those are
// one call, whatever loss each rank takes.
bool is_one_call_of_the_wrapper(const Report& report, const ScheduleDifference& d) {
  if (report.outcome != Outcome::ok || !d.moved.empty() || !d.met) return false;
  if (d.met->mine->purpose.kind == PurposeKind::none || d.met->mine->purpose != d.met->theirs->purpose) return false;
  std::map<std::pair<std::string, int>, int> balance;
  const auto count = [&](const std::vector<CallsApart>& calls, int by) {
    for (const CallsApart& c : calls)
      for (const int step : c.steps) balance[{site_at(report, c.site).operation, step}] += by;
  };
  count(d.left_out, 1);
  count(d.extra, -1);
  return std::all_of(balance.begin(), balance.end(), [](const auto& b) { return b.second == 0; });
}

std::vector<ScheduledCall> calls_in(const Report& report, Rank rank, const std::string& group) {
  std::vector<ScheduledCall> calls;
  for (const ScheduleClass& of : report.schedule.classes)
    if (contains(of.ranks, rank))
      for (const ScheduledCall& call : of.calls)
        if (site_at(report, call.site).group == group) calls.push_back(call);
  return calls;
}

// Whether both sides make one sequence of calls, the wrapper's among them, only in other rounds of a loop, none of them a whole call late: as
// where each rank synchronises at the end of its own batches.
bool is_one_sequence(const Report& report, const ScheduleDifference& d) {
  if (report.outcome != Outcome::ok || !d.met || d.met->mine->purpose.kind == PurposeKind::none || !same_call(*d.met->mine, *d.met->theirs))
    return false;
  const std::vector<ScheduledCall> mine = calls_in(report, d.culprits.front(), d.scheduled_in), theirs = calls_in(report, d.others.front(), d.scheduled_in);
  if (mine.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i].site != theirs[i].site) return false;
    if (i > 0 && mine[i].step != theirs[i].step && (mine[i - 1].step >= theirs[i].step || theirs[i - 1].step >= mine[i].step)) return false;
  }
  return true;
}

// One operation with other arguments on some ranks, from a line of their own: one call, which its arguments tell apart (parameter-mismatch).
bool is_one_call_with_other_arguments(const Report& report, const ScheduleDifference& d) {
  if (!replaces(report, d) || !d.moved.empty() || !report.divergence) return false;
  const ScheduledSite &mine = site_at(report, d.extra.front().site), &theirs = site_at(report, d.left_out.front().site);
  if (mine.operation != theirs.operation || mine.of_wrapper || (!mine.tensor.empty() && !theirs.tensor.empty() && mine.tensor != theirs.tensor))
    return false;
  const DivergenceKind field = report.divergence->field;
  const bool by_argument = field != DivergenceKind::missing && field != DivergenceKind::operation && field != DivergenceKind::purpose;
  return by_argument && report.divergence->group == d.group && report.divergence->seq == d.met->mine->seq;
}

}  // namespace

std::optional<Diagnosis> other_calls(const Report& report, Face face) {
  const std::optional<ScheduleDifference> d = schedule_difference(report);
  const bool has_met = report.divergence && report.divergence->field != DivergenceKind::missing;
  if (!d || (has_met && is_evaluation(report, *d))) return std::nullopt;
  if (report.outcome == Outcome::ok && !d->met) return std::nullopt;
  if (is_one_call_of_the_wrapper(report, *d) || is_one_sequence(report, *d) || is_one_call_with_other_arguments(report, *d)) return std::nullopt;
  const bool nobody_differs = !report.divergence || report.divergence->field == DivergenceKind::missing;
  const bool only_left_out = d->extra.empty() && d->moved.empty();
  const bool is_missing = nobody_differs && report.outcome != Outcome::ok && (only_left_out || !d->met);
  if ((face == Face::missing) != is_missing) return std::nullopt;
  Diagnosis found;
  found.ranks = d->culprits;
  if (d->tie) found.ranks.insert(found.ranks.end(), d->others.begin(), d->others.end());
  found.headline = headline_of(report, *d);
  found.cause = cause_of(report, *d);
  found.why = why_of(report, *d);
  if (d->met) found.met = {d->group, d->met->mine->seq, d->tie ? std::vector<Rank>() : d->culprits};
  advise(found, report, *d);
  add_places(found, report, *d);
  cite_calls(found, *d);
  add_cures(found, report, *d);
  found.inevitable_at = d->met ? std::max(d->met->mine->issued, d->met->theirs->issued) : d->first->issued;
  found.inevitable = d->met ? fmt::format("since {}: {} of rank {} met {} of rank {}", to_string(found.inevitable_at),
                                          recorded_place(*d->met->mine), d->met->my_rank,
                                          recorded_place(*d->met->theirs), d->met->their_rank)
                            : fmt::format("since {}: rank {} made {}", to_string(found.inevitable_at), d->first_rank,
                                          recorded_place(*d->first));
  return found;
}

}  // namespace pdsim::scenarios::diagnoses
