#include "scenarios/diagnosis/rules/calls/recorded_calls.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/rules/calls/call_advice.h"
#include "scenarios/diagnosis/rules/calls/lone_forward.h"
#include "scenarios/diagnosis/rules/whereabouts.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/pytorch/torch_frames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace pdsim::scenarios::diagnoses {
namespace {

const Call& recorded(const Report& report, const RecordedCall& call) {
  return *call_by_id(log_of(report.run, call.rank), call.id);
}

// "all_reduce (gradient bucket) at train.py:15 in step"; without frames by its size.
std::string placed(const Call& call) {
  const std::string place = place_text(call.site);
  if (!place.empty()) return fmt::format("{} at {}", call_text(call), place);
  if (call.count < 0) return call_text(call);
  return fmt::format("{} of {} element{}", call_text(call), call.count, call.count == 1 ? "" : "s");
}

// "#4", "#4 to #7", "#4, #9"
std::string numbers_text(const std::vector<Seq>& numbers) {
  const bool in_a_row = numbers.back() - numbers.front() == static_cast<Seq>(numbers.size()) - 1;
  if (numbers.size() > 2 && in_a_row) return fmt::format("#{} to #{}", numbers.front(), numbers.back());
  std::vector<std::string> texts;
  for (const Seq number : numbers) texts.push_back(fmt::format("#{}", number));
  return list_text(texts);
}

std::string count_text(const std::vector<PlaceCalls>& calls) {
  std::size_t count = 0;
  for (const PlaceCalls& c : calls) count += c.numbers.size();
  return count == 1 ? std::string("a call") : fmt::format("{} calls", count);
}

std::string places_of(const Report& report, const std::vector<PlaceCalls>& calls) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, calls.size()); ++i)
    texts.push_back(fmt::format("{} ({})", placed(recorded(report, calls[i].first)), numbers_text(calls[i].numbers)));
  const std::string more = calls.size() > most ? fmt::format(" and {} more places", calls.size() - most) : "";
  return fmt::format("{}{}", fmt::join(texts, ", "), more);
}

std::string headline_of(const Report& report, const RecordedDifference& d) {
  const std::string mine = short_ranks(d.culprits), theirs = short_ranks(d.others);
  if (d.is_sure && !d.swapped.empty()) {
    const SwappedCalls& swap = d.swapped.front();
    const std::size_t more = d.swapped.size() - 1;
    return fmt::format("{} these two in the other order: {} first, where {} {} first{}", who(d.culprits, "made", "made"),
                       placed(recorded(report, swap.mine)), who(d.others, "called", "called"), placed(recorded(report, swap.theirs)),
                       more == 0 ? "" : fmt::format(", and so {} time{} more", more, more == 1 ? "" : "s"));
  }
  if (d.is_sure && d.left_out.empty())
    return fmt::format("{} {} that {} did not make: {}", who(d.culprits, "made", "made"), count_text(d.extra), theirs,
                       places_of(report, d.extra));
  if (d.is_sure)
    return fmt::format("{} out {} that {} made: {}", who(d.culprits, "left", "left"), count_text(d.left_out), theirs,
                       places_of(report, d.left_out));
  return fmt::format("{} {}, where {} {}", who(d.culprits, "called", "called"), placed(recorded(report, d.mine)),
                     who(d.others, "called", "called"), placed(recorded(report, d.theirs)));
}

// Describes the calls that only one side made until the ranks stopped, besides the call that met another.
std::string own_calls_text(const Report& report, const RecordedDifference& d) {
  if (!d.stays_apart) return {};
  std::string text;
  for (const auto& [calls, ranks] : {std::pair{&d.extra, &d.culprits}, std::pair{&d.left_out, &d.others}})
    if (calls->size() > 1 || (!calls->empty() && calls->front().numbers.size() > 1))
      text += fmt::format(" Until the ranks stopped, only {} had called {}.", short_ranks(*ranks), places_of(report, *calls));
  return text;
}

bool is_bucket(const Call& call) { return call.purpose.kind == PurposeKind::bucket || call.purpose == pytorch::bucket_purpose(); }

// Gradients of a backward, which nobody calls with a tensor of their own.
bool is_backward(const Report& report, const std::vector<PlaceCalls>& calls) {
  return std::any_of(calls.begin(), calls.end(), [&](const PlaceCalls& c) { return is_bucket(recorded(report, c.first)); });
}

// Whether the others were in a backward, and the culprits in a call of the program's own.
bool meets_backward(const Report& report, const RecordedDifference& d) {
  return is_bucket(recorded(report, d.theirs)) &&
         recorded(report, d.mine).purpose.kind == PurposeKind::none;
}

// Whether they may have left a loop, or run one round more of it: one call of their own looks the same.
bool may_be_rounds(const Report& report, const RecordedDifference& d) {
  if (d.is_sure || !d.stays_apart) return false;
  return (d.one_more && (d.one_more->is_mine || d.left_out.empty())) || (d.left_out.empty() && meets_backward(report, d));
}

// The ranks that made a call of their own there, if the others are in no round more.
const std::vector<Rank>& made_own_call(const RecordedDifference& d) { return d.one_more && d.one_more->is_mine ? d.others : d.culprits; }

std::string one_more_text(const Report& report, const RecordedDifference& d) {
  const OneRoundMore& more = *d.one_more;
  const auto times = [](std::int64_t n) { return fmt::format("{} time{}", n, n == 1 ? "" : "s"); };
  const std::string who_made = short_ranks(more.is_mine ? d.culprits : d.others), who_less = short_ranks(more.is_mine ? d.others : d.culprits);
  return fmt::format(" With that one {} called {} {}, and {} {}{}: {} may be in a round more of that loop (other numbers of batches, a `break`), or {} "
                     "made a call that is not in the loop of the others.",
                     who_made, placed(recorded(report, more.call)), times(more.rounds), who_less, times(more.rounds - 1),
                     d.first_number > 1 ? fmt::format(" since #{}", d.first_number) : "", who_made, short_ranks(made_own_call(d)));
}

std::string why_of(const Report& report, const RecordedDifference& d) {
  const Call &mine = recorded(report, d.mine), &theirs = recorded(report, d.theirs);
  std::string why = d.rounds ? rounds_text(report, {*d.rounds, d.first_number}) + " " : std::string();
  why += fmt::format(
      "The collectives of a group have no names: the n-th call of one rank meets the n-th call of every other. At #{} of "
      "group {} {} of rank {} met {} of rank {}",
      mine.seq, d.group, placed(mine), d.my_rank(), placed(theirs), d.their_rank());
  why += d.is_sure && d.swapped.empty() ? ", and all that follows is shifted." : ".";
  const bool fits = same_call(mine, theirs), carries = mine.name != "barrier";
  if (fits && report.outcome == Outcome::ok)
    why +=
        carries
            ? " Operation, size and element type agree, so the library reported no error: the values of different "
              "calls are mixed on every rank."
            : " The library cannot tell the two calls apart, so it reported no error.";
  else if (fits)
    why += fmt::format(
        " {} there, so that pair could complete{}; the ranks stop only where two calls differ, or where one rank has "
        "no call left.",
        carries ? "Operation, size and element type agree" : "The library cannot tell the two calls apart",
        carries ? ", with values of two different calls" : "");
  why += own_calls_text(report, d);
  if (d.one_more && may_be_rounds(report, d)) why += one_more_text(report, d);
  if (d.first_number > 1) why += fmt::format(" The records that all ranks have begin at #{}.", d.first_number);
  if (d.tie) why += " Both sides have the same number of ranks, so the record cannot say which of them is right.";
  return why;
}

void move_out_of_branch(Diagnosis& found, const std::string& ranks) {
  found.fix = fmt::format("move the call that only {} made out of its branch, or make it on every rank", ranks);
  found.fix_lines = {"call a helper that ends in a collective (save, log, evaluate) on every rank; inside it, only "
                     "rank 0 writes"};
}

void write_fix(Diagnosis& found, const Report& report, const RecordedDifference& d) {
  const std::string ranks = short_ranks(d.culprits);
  if (d.is_sure && !d.swapped.empty()) {
    found.fix = "give these calls one order on every rank";
    found.fix_lines = {"no set, order of arrival or `if rank == ...` may decide it"};
  } else if (may_be_rounds(report, d)) {
    // Fewer batches and one call more look the same here: neither is said to be it.
    const std::vector<Rank>& own = made_own_call(d);
    found.fix = fmt::format("let {} run the same number of {} as {}, or take the call that {} alone {} out of the loop", ranks,
                            meets_backward(report, d) ? "backwards" : "rounds", short_ranks(d.others), short_ranks(own), own.size() == 1 ? "makes" : "make");
    found.fix_lines = {
        "for fewer batches, a skipped batch or a `break`: use a sampler that pads or drops, put model.join() around "
        "the loop, or all_reduce the decision, so that all ranks go on or none",
        "call a helper that ends in a collective (save, log, evaluate) on every rank; inside it, only rank 0 writes"};
  } else if ((d.is_sure || d.stays_apart) && d.left_out.empty() && !d.extra.empty()) {
    move_out_of_branch(found, ranks);
  } else if (d.is_sure && is_backward(report, d.left_out)) {
    found.fix = fmt::format(
        "run the same backwards on {} too: the same number of batches on every rank (a sampler that pads or drops), "
        "and a loss of zero where {} own does not count",
        ranks, d.culprits.size() == 1 ? "its" : "their");
    found.fix_lines = {
        alternative("with model.join(): around the loop, where ranks have different numbers of batches"),
        "if a rank skips a batch or decides to stop, tell the others first: all_reduce the decision, then all ranks go "
        "on or none"};
  } else if (d.is_sure && d.tie) {
    move_out_of_branch(found, short_ranks(d.others));
  } else if (d.is_sure) {
    const std::string& operation = recorded(report, d.left_out.empty() ? d.theirs : d.left_out.front().first).name;
    const bool alike = std::all_of(d.left_out.begin(), d.left_out.end(), [&](const PlaceCalls& c) { return recorded(report, c.first).name == operation; });
    found.fix = fmt::format("make these calls on {} too{}, or on no rank", ranks, alike ? without_data(operation, false) : "");
    found.fix_lines = {"if a rank decides alone (no data, an early stop, an exception), tell the others first: "
                       "all_reduce the decision, then all ranks go on or none"};
  } else {
    found.fix = "make the same calls in the same order on every rank of the group: start at these two places, and at "
                "the branch that leads to them";
  }
}

bool is_about_buffers(const Call& call) { return call.purpose.kind == PurposeKind::buffers; }

// Whether the hang that is being explained is in this group, or ends with ranks that went apart in it.
bool concerns(const Report& report, const RecordedDifference& d) {
  if (!report.hang) return true;
  const Call* call = common_call(report, report.hang->nearest);
  if (call != nullptr && call->group == d.group) return true;
  const auto is_apart = [&](Rank r) { return contains(d.culprits, r) || contains(d.others, r); };
  return call == nullptr && std::all_of(report.hang->ends.begin(), report.hang->ends.end(), is_apart);
}

bool has_face(const Report& report, const RecordedDifference& d, Face face) {
  const bool fits = same_call(recorded(report, d.mine), recorded(report, d.theirs));
  const Seq met = recorded(report, d.mine).seq;
  const bool shows = report.divergence && report.divergence->group == d.group && report.divergence->seq == met;
  if (!d.is_sure && report.outcome == Outcome::ok && !shows) return false;
  if (!d.is_sure && fits && !d.stays_apart) return false;  // it may be one call of two places
  if (d.is_sure && report.outcome == Outcome::ok && !is_silent_mix(d)) return false;
  const bool only_left_out = d.is_sure && d.extra.empty() && d.swapped.empty();
  const bool is_missing = only_left_out && fits && report.outcome != Outcome::ok;
  return (face == Face::missing) == is_missing;
}

}  // namespace

std::string rounds_text(const Report& report, const LoopRounds& rounds) {
  std::vector<std::string> parts;
  for (const auto& [number, ranks] : rounds.place.ranks_by_rounds)
    parts.push_back(fmt::format("{} time{} on {}", number, number == 1 ? "" : "s", short_ranks(ranks)));
  const std::string since = rounds.first_number > 1 ? fmt::format(" since #{}, where the records begin", rounds.first_number) : "";
  return fmt::format("The ranks left the loop around {} after different numbers of rounds: it was called {}{}.",
                     placed(recorded(report, rounds.place.call)), fmt::join(parts, ", "), since);
}

bool is_silent_mix(const RecordedDifference& d) {
  const std::size_t enough = d.swapped.empty() ? 3 : 1;  // calls that meet again, so that it was not chance
  return d.is_sure && d.alike_after >= enough;
}

std::optional<Diagnosis> recorded_calls(const Report& report, Face face) {
  if (!report.recorded || !concerns(report, *report.recorded) || !has_face(report, *report.recorded, face)) return std::nullopt;
  const RecordedDifference& d = *report.recorded;
  const Call &mine = recorded(report, d.mine), &theirs = recorded(report, d.theirs);
  const auto is_lone = [&](const std::vector<Rank>& ranks, const Call& call) {
    return is_about_buffers(call) && !others_run_it(report, ranks, call);
  };
  if (!d.is_sure && (is_lone(d.culprits, mine) || is_lone(d.others, theirs))) return std::nullopt;  // lone_forward.h
  Diagnosis found;
  found.ranks = d.culprits;
  if (d.tie) found.ranks.insert(found.ranks.end(), d.others.begin(), d.others.end());
  std::sort(found.ranks.begin(), found.ranks.end());
  if (report.hang)
    std::set_difference(report.hang->waiting.begin(), report.hang->waiting.end(), found.ranks.begin(), found.ranks.end(),
                        std::back_inserter(found.waiting));
  found.headline = headline_of(report, d);
  found.cause = fmt::format("{}; so #{} of group {} is {} on rank {} and {} on rank {}", found.headline, mine.seq, d.group,
                            placed(mine), d.my_rank(), placed(theirs), d.their_rank());
  found.why = why_of(report, d);
  found.met = {d.group, mine.seq, d.tie ? std::vector<Rank>() : d.culprits};
  write_fix(found, report, d);
  found.evidence.push_back(evidence_of(d.my_rank(), mine, fmt::format("#{}: {}", mine.seq, placed(mine))));
  found.evidence.push_back(evidence_of(d.their_rank(), theirs, fmt::format("#{}: {}", theirs.seq, placed(theirs))));
  for (const std::vector<PlaceCalls>* apart : {&d.extra, &d.left_out})
    for (std::size_t i = 0; i < std::min<std::size_t>(apart->size(), 4); ++i) {
      const PlaceCalls& calls = (*apart)[i];
      if (calls.first.id == d.mine.id && calls.first.rank == d.mine.rank) continue;
      if (calls.first.id == d.theirs.id && calls.first.rank == d.theirs.rank) continue;
      found.evidence.push_back(evidence_of(calls.first.rank, recorded(report, calls.first),
                                    fmt::format("{}: {}", numbers_text(calls.numbers), placed(recorded(report, calls.first)))));
    }
  found.inevitable_at = std::max(mine.issued, theirs.issued);
  return found;
}

}  // namespace pdsim::scenarios::diagnoses
