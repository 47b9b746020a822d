// Ranks of the world where ranks of a group are meant, and calls from outside of a group.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

namespace pdsim::scenarios::diagnoses {
namespace {

// The member with that rank within the group, as the world numbers it; nothing when the group is not known.
std::optional<Rank> meant(const RankLog& log, const std::string& group, Rank rank) {
  for (const Note* note : notes_of<notes::GroupMade>(log)) {
    const auto& made = note->as<notes::GroupMade>();
    if (made.group == group && rank >= 0 && static_cast<std::size_t>(rank) < made.ranks.size())
      return made.ranks[static_cast<std::size_t>(rank)];
  }
  return std::nullopt;
}

}  // namespace

std::optional<Diagnosis> root_not_in_group(const Report& report) {
  Diagnosis d;
  const Call* first = nullptr;
  std::string group;
  Rank rank = no_rank;
  std::optional<Rank> instead;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    const Error& error = log.error;
    if (log.end != RankEnd::raised || error.code != Code::invalid_argument) continue;
    const Call* call = failed_operation(log, Code::invalid_argument);
    const std::optional<std::int64_t> rank_there = fact_number(error.facts, "rank");
    const std::string theirs(fact(error.facts, "group"));
    if (call == nullptr || !rank_there || theirs.empty()) continue;
    const auto named = static_cast<Rank>(*rank_there);
    if (!has_note<notes::GroupMade>(log) || call->name == "new_group") continue;
    if (named == log.rank) continue;  // it speaks of itself: it has not made the group
    add_once(d.ranks, log.rank);
    d.evidence.push_back(
        evidence_of(log.rank, *call, fmt::format("{} names rank {}, which is not in {}", call->name, named, theirs)));
    if (first == nullptr) first = call, group = theirs, rank = named, instead = meant(log, theirs, named);
  }
  if (first == nullptr) return std::nullopt;
  d.headline = fmt::format("{} of group {} names rank {}, which is not in the group", first->name, group, rank);
  d.cause = fmt::format("rank {} is a rank of the world, but it is not in group {}", rank, group);
  d.why = fmt::format(
      "src, dst and peer are ranks of the world, even in a call on a group. {} of group {} was called with rank {}, "
      "which no member can send to or receive from, so the call was rejected before anything was sent.",
      first->name, group, rank);
  d.fix = !instead ? "name a rank of the world that is in the group"
                   : fmt::format("name rank {}, which is rank {} of the group", *instead, rank);
  d.fix_lines = {"dist.get_global_rank(group, i) translates; newer PyTorch also takes group_src and group_dst"};
  add_span(d, report, first->site.line, first->site.column, fmt::format("names rank {}", rank), true);
  d.inevitable_at = first->issued;
  d.inevitable = fmt::format("since {}: {} was refused", to_string(first->issued), first->name);
  return d;
}

std::optional<Diagnosis> outside_of_group(const Report& report) {
  if (report.outcome != Outcome::ok) return std::nullopt;
  Diagnosis d;
  const Note *call = nullptr, *use = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const std::vector<const Note*> outside = notes_of<notes::NotAMember>(result.log);
    for (const Note* read : notes_of<notes::ResultRead>(result.log)) {
      if (read->as<notes::ResultRead>().member || outside.empty()) continue;
      add_once(d.ranks, result.log.rank);
      const Note& first = *outside.front();
      if (d.evidence.size() < 4) {
        d.evidence.push_back(
            evidence_of(result.log.rank, first,
                 fmt::format("called {} of group {}, which it does not belong to",
                             first.as<notes::NotAMember>().operation, first.as<notes::NotAMember>().group)));
        d.evidence.push_back(evidence_of(result.log.rank, *read, "used the tensor as if it held the result"));
      }
      if (use == nullptr || read->at < use->at) call = &first, use = read;
    }
  }
  if (use == nullptr) return std::nullopt;
  const auto& [group, operation] = call->as<notes::NotAMember>();
  d.headline = fmt::format("{} the result of {} of group {}, to which {} not belong", who(d.ranks, "uses", "use"),
                           operation, group, d.ranks.size() == 1 ? "it does" : "they do");
  d.cause = fmt::format("{} outside a group does nothing, so the tensors of {} are unchanged", operation,
                        short_ranks(d.ranks));
  d.why =
      "new_group gives every rank of the world a handle; outside the group it is a dummy. A collective on the dummy "
      "returns at once without an error: PyTorch prints a warning, and the tensor keeps its old value. Whatever the "
      "program computes from that value is wrong, on these ranks only.";
  d.fix = fmt::format("create group {} with every rank that needs the result", group);
  d.fix_lines = {alternative("use the result only inside `if rank in ranks`, and broadcast it to the others")};
  add_span(d, report, use->site.line, use->site.column, fmt::format("{} use it", short_ranks(d.ranks)), true);
  add_span(d, report, call->site.line, call->site.column, "does nothing outside the group", false);
  d.inevitable_at = use->at;
  d.inevitable = fmt::format("since {}: {} of group {} did nothing on {}", to_string(use->at), operation, group,
                             short_ranks(d.ranks));
  return d;
}

constexpr std::string_view root_not_in_group_text =
    R"(src, dst and the peers of send and recv are ranks of the world, even in calls on a subgroup. In the group of ranks 2 and 3,
src=0 does not mean the group's first member: it is an error on every member that passes it, and members that do not make
the mistake wait for the others.

How to recognise it: "Global rank 0 is not part of group", raised at once by the members of a subgroup.

Fix: dist.get_global_rank(group, 0), or group_src and group_dst where PyTorch has them.)";

constexpr std::string_view outside_of_group_text =
    R"(Every rank of the world calls new_group, and ranks outside the group get a handle that is not a member. Collectives on it do
nothing and succeed: PyTorch warns once, and the tensor stays unchanged.

How to recognise it: no error and no hang; a reduced metric is right on the group's members and the local value on the others. The
warning says "Running all_reduce on global rank 2 which does not belong to the given group".

Fix: a group of every rank that uses the result, or the call inside `if rank in ranks`.)";

extern const DiagnosisRow root_not_in_group_row;
const DiagnosisRow root_not_in_group_row{260, "root-not-in-group", "a call on a group names a rank that is not in it",
                                         root_not_in_group, root_not_in_group_text};
extern const DiagnosisRow outside_of_group_row;
const DiagnosisRow outside_of_group_row{570, "outside-of-group",
                                        "a rank used the result of a group that it does not belong to",
                                        outside_of_group, outside_of_group_text};

}  // namespace pdsim::scenarios::diagnoses
