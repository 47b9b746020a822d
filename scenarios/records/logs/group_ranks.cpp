#include "scenarios/records/logs/group_ranks.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/log_reader.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

namespace pdsim::scenarios::logs {
namespace {

class RankPlacing {
 public:
  explicit RankPlacing(LogFacts& facts) : facts_(facts) {}

  void run() {
    const auto is_other = [](const auto& table) { return !table.second.may_be_whole_job(); };
    for (const Fact& fact : facts_.facts)
      if (const Rank own = own_group_rank(fact); fact.rank != no_rank && own != no_rank && !is_default(fact))
        table_of(fact).add(own, fact.rank);
    shows_subgroups_ = facts_.shows_subgroups ||
                       std::any_of(facts_.groups.begin(), facts_.groups.end(), is_other) ||
                       std::any_of(unnamed_.begin(), unnamed_.end(), is_other);
    for (Fact& fact : facts_.facts) place(fact);
    see_unnamed();
    facts_.assumed_ranks.assign(assumed_.begin(), assumed_.end());
  }

 private:
  static bool is_default(const Fact& fact) { return fact.group == "0" || fact.group_desc == "default_pg"; }

  // The rank in the group that the speaker says to be its own.
  static Rank own_group_rank(const Fact& fact) {
    if (const auto* mismatch = fact.as<FingerprintMismatch>()) return mismatch->mine.in_group;
    if (const auto* missing = fact.as<GradientsMissing>()) return missing->in_group;
    if (fact.as<BarrierMissed>() != nullptr) return 0;  // only rank 0 of a group reports it
    if (const auto* reached = fact.as<BarrierReached>()) return reached->mine;
    return fact.group.empty() && fact.rank != no_rank ? no_rank : fact.group_rank;
  }

  GroupRanks& table_of(const Fact& fact) {
    if (!fact.group.empty()) return facts_.groups[fact.group];
    const bool is_barrier = fact.as<BarrierReached>() != nullptr;  // they meet in one call
    return unnamed_[is_barrier ? FactBody(BarrierMissed{}).index() : fact.body.index()];
  }

  Rank placed(const Fact& fact, Rank in_group) {
    if (in_group == no_rank || is_default(fact)) return in_group;
    const GroupRanks& table = table_of(fact);
    if (const std::optional<Rank> proven = table.global(in_group)) return *proven;
    if (!fact.group.empty() || shows_subgroups_) return no_rank;
    assumed_.insert(in_group);
    return in_group;
  }

  void place_list(const Fact& fact, std::vector<Rank>& ranks, std::vector<Rank>& in_group) {
    std::vector<Rank> unknown;
    for (const Rank rank : in_group) {
      const Rank global = placed(fact, rank);
      global == no_rank ? unknown.push_back(rank) : ranks.push_back(global);
    }
    in_group = std::move(unknown);
  }

  void place(Fact& fact) {
    if (const Rank own = own_group_rank(fact); fact.rank == no_rank && own != no_rank) {
      fact.rank = placed(fact, own);
      if (fact.rank == no_rank) ++facts_.lines_in_group;
      if (fact.rank != no_rank) facts_.see(fact.rank, fact.file, fact.line, fact.at_ns);
    }
    if (auto* missed = std::get_if<BarrierMissed>(&fact.body)) place_list(fact, missed->ranks, missed->in_group);
    if (auto* state = std::get_if<DesyncState>(&fact.body)) place_list(fact, state->ranks, state->in_group);
    if (auto* absent = std::get_if<DesyncAbsent>(&fact.body)) place_list(fact, absent->ranks, absent->in_group);
    if (auto* missing = std::get_if<GradientsMissing>(&fact.body)) missing->rank = fact.rank;
    if (auto* reached = std::get_if<BarrierReached>(&fact.body)) reached->blamed = placed(fact, reached->blamed_in_group);
    if (auto* mismatch = std::get_if<FingerprintMismatch>(&fact.body)) {
      mismatch->mine.rank = fact.rank;
      mismatch->theirs.rank = placed(fact, mismatch->theirs.in_group);
      mismatch->is_whole_job = table_of(fact).may_be_whole_job() && !shows_subgroups_;
    }
  }

  // Ranks that only lines without a group's name and without the job's rank name.
  void see_unnamed() {
    if (shows_subgroups_) return;
    for (const auto& [rank, seen] : facts_.unnamed_ranks) facts_.ranks.try_emplace(rank, seen);
  }

  LogFacts& facts_;
  std::map<std::size_t, GroupRanks> unnamed_;  // by the kind of the line
  bool shows_subgroups_ = false;
  std::set<Rank> assumed_;
};

}  // namespace

void GroupRanks::add(Rank in_group, Rank global) {
  const auto [at, is_new] = global_.try_emplace(in_group, global);
  const auto [back, is_first] = in_group_.try_emplace(global, in_group);
  conflicts_ = conflicts_ || at->second != global || back->second != in_group || global < in_group;
  if (!is_new || conflicts_) return;
  conflicts_ = (at != global_.begin() && std::prev(at)->second >= global) ||
               (std::next(at) != global_.end() && std::next(at)->second <= global);
}

bool GroupRanks::may_be_whole_job() const {
  return !conflicts_ && (global_.empty() || global_.rbegin()->first == global_.rbegin()->second);
}

std::optional<Rank> GroupRanks::global(Rank in_group) const {
  if (conflicts_ || in_group < 0) return std::nullopt;
  const auto above = global_.lower_bound(in_group);
  if (above == global_.end()) return std::nullopt;
  if (above->first == in_group) return above->second;
  const auto [rank, of_job] = above == global_.begin() ? std::pair<const Rank, Rank>(-1, -1) : *std::prev(above);
  if (above->second - of_job != above->first - rank) return std::nullopt;
  return of_job + (in_group - rank);
}

std::vector<Rank> GroupRanks::proven_members() const {
  std::vector<Rank> members;
  if (conflicts_ || global_.empty()) return members;
  Rank last = -1, of_last = -1;
  for (const auto& [rank, of_job] : global_) {
    if (of_job - of_last == rank - last)
      for (Rank between = of_last + 1; between < of_job; ++between) members.push_back(between);
    members.push_back(of_job);
    last = rank;
    of_last = of_job;
  }
  return members;
}

void place_group_ranks(LogFacts& facts) { RankPlacing(facts).run(); }

}  // namespace pdsim::scenarios::logs
