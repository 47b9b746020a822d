#include "scenarios/diagnosis/logs/logged_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace pdsim::scenarios {
namespace {

using logs::Fact;
using logs::LogFacts;

// A watchdog's line names no group. Its rank within the group is another one than in the job: a group of some ranks.
bool is_of_unnamed_group(const Fact& fact) {
  return fact.group.empty() && fact.group_desc.empty() && fact.group_rank != no_rank && fact.group_rank != fact.rank;
}

std::string description_of(const Fact& fact) {
  if (is_of_unnamed_group(fact)) return "a group that the log does not name";
  if (!fact.group_desc.empty() && fact.group_desc != "undefined") return fact.group_desc;
  return fact.group.empty() || fact.group == "0" ? std::string(group_of_the_job) : fact.group;
}

// Gives each group a name that no other group has: all tensor-parallel groups of a job have the same description.
class GroupLabels {
 public:
  explicit GroupLabels(const LogFacts& facts) {
    for (const Fact& fact : facts.facts) names_[description_of(fact)].insert(fact.group);
  }
  std::string of(const Fact& fact) const {
    const std::string description = description_of(fact);
    const auto names = names_.find(description);
    if (description == group_of_the_job || fact.group.empty() || names == names_.end() || names->second.size() < 2)
      return description;
    return fmt::format("{} {}", description, fact.group);
  }

 private:
  std::map<std::string, std::set<std::string>> names_;  // by description
};

// The watchdog's own line names no group; another line about that work of the rank does.
std::map<std::pair<Rank, Seq>, const Fact*> groups_of_works(const LogFacts& facts) {
  std::map<std::pair<Rank, Seq>, const Fact*> groups;
  for (const Fact& fact : facts.facts) {
    if (fact.group.empty()) continue;
    const auto* progress = fact.as<logs::GroupProgress>();
    const auto* timeout = fact.as<logs::WatchdogTimeout>();
    if (progress != nullptr && progress->failed >= 0) groups.try_emplace({fact.rank, progress->failed}, &fact);
    if (timeout != nullptr && timeout->seq >= 0) groups.try_emplace({fact.rank, timeout->seq}, &fact);
  }
  return groups;
}

// The first call that it has not completed; -1: none.
Seq open_call(const LoggedProgress& progress) {
  if (!progress.timeouts.empty()) return progress.timeouts.begin()->first;
  return progress.enqueued > progress.completed ? progress.completed + 1 : -1;
}

// Another rank says that a call of this rank timed out, and the rank's own lines are not in the log: it waits, as far as the log shows, where the
// first of the others waits.
void add_signalled(LoggedGroup& group, Rank rank) {
  Seq first = -1;
  for (const auto& [other, progress] : group.ranks)
    if (const Seq open = open_call(progress); open >= 0 && (first < 0 || open < first)) first = open;
  LoggedProgress& own = group.ranks[rank];
  own.timed_out = true;
  if (first >= 0) own.completed = first - 1;
  own.enqueued = first;
}

}  // namespace

LoggedGroups groups_of(const LogFacts& facts) {
  LoggedGroups groups;
  std::vector<std::pair<LoggedGroup*, Rank>> signalled;  // ranks whose timeout another one reports
  const GroupLabels labels(facts);
  const auto works = groups_of_works(facts);
  std::set<std::pair<const LoggedGroup*, const logs::GroupRanks*>> looked_at;  // once each: a log has many lines of a group
  const auto group_of = [&](const Fact& fact) -> LoggedGroup& {
    LoggedGroup& group = groups[labels.of(fact)];
    if (is_of_unnamed_group(fact)) group.is_named = group.is_one = false;
    const auto known = fact.group.empty() ? facts.groups.end() : facts.groups.find(fact.group);
    if (known != facts.groups.end() && looked_at.emplace(&group, &known->second).second) {
      group.is_one = known->second.is_one_group();
      group.members = known->second.proven_members();
    }
    return group;
  };
  for (const Fact& fact : facts.facts) {
    if (fact.rank == no_rank) continue;
    if (const auto* timeout = fact.as<logs::WatchdogTimeout>()) {
      const auto named = works.find({fact.rank, timeout->seq});
      LoggedProgress& progress =
          group_of(fact.group.empty() && named != works.end() ? *named->second : fact).ranks[fact.rank];
      const Seq seq = timeout->seq;  // -1 where the version prints none: one call without a number
      progress.timeouts.try_emplace(seq, LoggedProgress::Waited{*timeout, &fact});
      progress.enqueued = std::max(progress.enqueued, seq);
      progress.fact = &fact;
    } else if (const auto* told = fact.as<logs::GroupProgress>()) {
      LoggedProgress& progress = group_of(fact).ranks[fact.rank];
      progress.enqueued = std::max({progress.enqueued, told->enqueued, told->failed});
      progress.completed = std::max(progress.completed, told->completed);
      progress.says_completed = progress.says_completed || told->says_completed;
      progress.timed_out = progress.timed_out || (told->is_after_timeout && told->timed_out_rank == no_rank && told->enqueued > told->completed);
      progress.fact = &fact;
      if (told->timed_out_rank != no_rank) signalled.emplace_back(&group_of(fact), told->timed_out_rank);
    }
  }
  const bool has_one_group = groups.size() == 1 && groups.begin()->first == group_of_the_job;
  for (const auto& [group, rank] : signalled)
    if (has_one_group && !any_progress(groups, rank, [](const LoggedProgress&) { return true; })) add_signalled(*group, rank);
  for (auto& [label, group] : groups) {
    std::set<Rank> members(group.members.begin(), group.members.end());
    for (const auto& [rank, progress] : group.ranks) members.insert(rank);
    group.members.assign(members.begin(), members.end());
  }
  return groups;
}

}  // namespace pdsim::scenarios
