// A process group that not all of its members made, or that they made in different orders: the n-th call of new_group of one
// rank is the n-th of every other, whatever they name it.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/operation_changes.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/group_descriptions.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace pdsim::scenarios::diagnoses {
namespace {

struct Made {
  Rank rank = 0;
  const Note* note = nullptr;
};

const notes::GroupMade& group_of(const Note& note) { return note.as<notes::GroupMade>(); }

const Note* made_as(const RankLog& log, int number) {
  for (const Note* note : notes_of<notes::GroupMade>(log))
    if (group_of(*note).number == number) return note;
  return nullptr;
}

std::vector<Rank> members_of(const Note& note, const Report& report) {
  std::vector<Rank> members;
  for (const Rank rank : group_of(note).ranks) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < report.run.ranks.size()) members.push_back(rank);
  }
  return members;
}

// True if the rank is a victim: it waits in new_group, or in a call of the group, or its wait there failed.
bool suffers(const Report& report, const Made& made) {
  const std::string& group = group_of(*made.note).group;
  const auto waits = [&](const BlockedRank& b) {
    return b.rank == made.rank && (b.in == "new_group" || b.group == group);
  };
  const auto gave_up = [&](const RankError& e) {
    return e.rank == made.rank && e.in == "new_group" && e.code != Code::invalid_argument;
  };
  return std::any_of(report.blocked.begin(), report.blocked.end(), waits) ||
         std::any_of(report.errors.begin(), report.errors.end(), gave_up);
}

// In older versions new_group ends with a barrier of the world. Ranks outside of the group for which this one waits there.
std::vector<Rank> strangers_that_did_not_come(const Report& report, const Made& made) {
  const auto waits = [&](const auto& rank) { return rank.rank == made.rank && rank.in == "new_group"; };
  if (std::none_of(report.blocked.begin(), report.blocked.end(), waits) &&
      std::none_of(report.errors.begin(), report.errors.end(), waits))
    return {};
  std::vector<Rank> missing;
  for (const RankResult& other : report.run.ranks) {
    const bool is_gone = other.log.end == RankEnd::died && !is_timeout(other.log.error.code);
    if (!is_gone && made_as(other.log, group_of(*made.note).number) == nullptr) missing.push_back(other.log.rank);
  }
  return missing;
}

struct Disagreement {
  Made made;                    // the call that suffers
  std::vector<Rank> missing;    // its members that did not make this call
  std::vector<Made> different;  // those whose call of the same number names other ranks
};

// Returns the first number at which the ranks diverged.
std::optional<Disagreement> first_apart(const Report& report) {
  std::optional<Disagreement> first;
  for (const RankResult& result : report.run.ranks)
    for (const Note* note : notes_of<notes::GroupMade>(result.log)) {
      const Made made{result.log.rank, note};
      const int number = group_of(*note).number;
      if (number == 0) continue;  // known from elsewhere than a call of new_group
      if (first && group_of(*first->made.note).number <= number) break;
      if (!suffers(report, made)) continue;
      Disagreement found{made, {}, {}};
      for (const Rank member : members_of(*note, report)) {
        const RankLog& log = log_of(report.run, member);
        const Note* theirs = made_as(log, number);
        const Code end = log.error.code;
        if (theirs == nullptr && log.end == RankEnd::died && !is_timeout(end) && !is_consequence(end))
          return std::nullopt;  // its death is the cause
        if (theirs == nullptr) found.missing.push_back(member);
        if (theirs != nullptr && group_of(*theirs).ranks != group_of(*note).ranks)
          found.different.push_back({member, theirs});
      }
      if (found.missing.empty() && found.different.empty())  // its members agree; the others use the same name for another group
        for (const RankResult& other : report.run.ranks)
          if (const Note* theirs = made_as(other.log, number); theirs != nullptr && group_of(*theirs).ranks != group_of(*note).ranks)
            found.different.push_back({other.log.rank, theirs});
      if (found.missing.empty() && found.different.empty()) found.missing = strangers_that_did_not_come(report, made);
      if (!found.missing.empty() || !found.different.empty()) first = std::move(found);
    }
  return first;
}

// Members of two groups that have one number and one name, in a run that went well all the same: the first.
std::optional<Disagreement> apart_without_harm(const Report& report) {
  std::map<std::tuple<int, int, std::string_view>, Made> first_of;
  std::optional<Disagreement> first;
  for (const RankResult& result : report.run.ranks) {
    if (result.log.dropped > 0) return std::nullopt;
    std::map<int, int> lives;  // each init_process_group starts the numbers again
    for (const Note* note : notes_of<notes::GroupMade>(result.log)) {
      const notes::GroupMade& group = group_of(*note);
      const int life = lives[group.number]++;
      if (group.number == 0 || !contains(group.ranks, result.log.rank)) continue;
      const Made made{result.log.rank, note};
      const Made& other = first_of.try_emplace({life, group.number, identity_of_group(group.group)}, made).first->second;
      if (group_of(*other.note).ranks == group.ranks || (first && group_of(*first->made.note).number <= group.number)) continue;
      first = Disagreement{other, {}, {made}};
    }
  }
  return first;
}

std::string group_text(const Note& note) {
  return fmt::format("{} of ranks {}", group_of(note).group, fmt::join(group_of(note).ranks, ", "));
}

std::string what_it_did_instead(const Report& report, Rank rank) {
  const RankLog& log = log_of(report.run, rank);
  if (!is_running_at(log, moment_of(report.run)) && log.end == RankEnd::returned) return "finished its program";
  const Call* call = nullptr;
  if (is_running_at(log, moment_of(report.run))) call = sits_in(log, moment_of(report.run));
  if (call == nullptr)
    for (const Call& c : log.calls)
      if (c.state != CallState::completed && c.layer != Layer::program) call = &c;
  return call != nullptr ? fmt::format("went on to {}", call->site.op.empty() ? call_text(*call) : call->site.op)
                         : std::string("went on without it");
}

void explain_missing(Diagnosis& d, const Report& report, const Disagreement& found, int number) {
  const std::string who_is_missing = short_ranks(found.missing);
  const std::string place = what_it_did_instead(report, found.missing.front());
  d.ranks = found.missing;
  d.headline = fmt::format("rank {} makes the group {}, and {} did not call new_group for it", found.made.rank,
                           group_text(*found.made.note), who_is_missing);
  d.cause = fmt::format("new_group #{} was not called by {}, which {}", number, who_is_missing, place);
  d.why = fmt::format(
      "new_group is a collective over the world: every rank must call it. Its members meet in it, or in the group's first "
      "call. Rank {} waits for {}, which {}.",
      found.made.rank, who_is_missing, place);
}

void explain_order(Diagnosis& d, const Report& report, const Disagreement& found, int number) {
  const Made& other = found.different.front();
  const std::string mine = group_text(*found.made.note), theirs = group_text(*other.note);
  d.ranks = {found.made.rank};
  for (const Made& m : found.different) add_once(d.ranks, m.rank);
  d.headline = fmt::format("new_group #{} is {} on rank {}, and {} on rank {}", number, mine, found.made.rank, theirs,
                           other.rank);
  d.cause = d.headline;
  d.why = fmt::format(
      "Groups are identified by the number of earlier new_group calls, not by their names or ranks. Call #{} of rank "
      "{} creates {}, and call #{} of rank {} creates {}: they look for each other under one key{}.",
      number, found.made.rank, mine, number, other.rank, theirs,
      report.outcome == Outcome::ok ? "; in this run they found the right ranks, because of when they came"
                                    : " and wait for ranks that never come");
  d.evidence.push_back(evidence_of(other.rank, *other.note, fmt::format("made {} as #{}", theirs, number)));
  add_span(d, report, other.note->site.line, other.note->site.column,
           fmt::format("rank {} makes {} here as #{}", other.rank, group_of(*other.note).group, number), false);
}

}  // namespace

std::optional<Diagnosis> new_group_mismatch(const Report& report) {
  const std::optional<Disagreement> found = report.outcome == Outcome::ok ? apart_without_harm(report) : first_apart(report);
  if (!found) return std::nullopt;
  const int number = group_of(*found->made.note).number;
  Diagnosis d;
  d.evidence.push_back(evidence_of(found->made.rank, *found->made.note,
                            fmt::format("called new_group #{} for {}", number, group_text(*found->made.note))));
  add_span(d, report, found->made.note->site.line, found->made.note->site.column,
           fmt::format("rank {} makes {} here as #{}", found->made.rank, group_of(*found->made.note).group, number),
           true);
  if (found->different.empty()) {
    explain_missing(d, report, *found, number);
  } else {
    explain_order(d, report, *found, number);
  }
  d.fix = "call new_group for every group on every rank of the world, member or not, in the same order";
  d.cures.push_back(new_groups_on_all_ranks());
  d.inevitable_at = found->made.note->at;
  d.inevitable =
      fmt::format("since {}: rank {} called new_group #{}", to_string(d.inevitable_at), found->made.rank, number);
  return d;
}

constexpr std::string_view new_group_mismatch_text =
    R"(Every rank of the world must call new_group, even those that will not be in the group, and all must make the same calls in
the same order: the n-th call of one rank belongs to the n-th call of every other. With a call inside `if rank in
members`, or groups created in different orders, ranks wait in new_group for each other, or different ranks join under one
number. In older versions every rank waits at a barrier there; since 2.x only the members meet, over NCCL in the group's
first call, which makes the communicator.

How to recognise it: ranks hang in new_group, or in the first call of the group, or time out in the store with a key of the
group, such as rank_1, or 0 for NCCL's communicator.

Fix: create all groups on all ranks in one loop, and keep the handles of those that the rank is in.)";

extern const DiagnosisRow new_group_mismatch_row;
const DiagnosisRow new_group_mismatch_row{300, "new-group-mismatch",
                                          "not all members created a process group, or they created groups in "
                                          "different orders",
                                          new_group_mismatch, new_group_mismatch_text};

}  // namespace pdsim::scenarios::diagnoses
