#include "scenarios/records/pytorch/one_job.h"

#include "core/base/int_set.h"
#include "core/collectives/collective_kind.h"
#include "scenarios/records/pytorch/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace pdsim::scenarios::pytorch {
namespace {

using Ranks = std::vector<std::int64_t>;

std::string text_of(const Ranks& ranks) { return ranks_text({ranks.begin(), ranks.end()}); }

bool is_default(const Group& group) {
  if (group.desc == "default_pg" || group.name == "default_pg") return true;
  const bool undescribed = group.desc.empty() || group.desc == "undefined";
  return undescribed && (group.name.empty() || group.name == "0");
}

// The ranks of its group of all, as it names them itself; empty where it does not.
Ranks default_group(const Dump& dump) {
  Ranks ranks;
  for (const Group& group : dump.groups)
    if (is_default(group) && group.ranks.size() > ranks.size()) ranks = group.ranks;
  return ranks;
}

// The largest group, which in dumps that do not name the default group comes nearest to it.
Ranks largest_group(const Dump& dump) {
  Ranks ranks;
  for (const Group& group : dump.groups)
    if (group.ranks.size() > ranks.size()) ranks = group.ranks;
  return ranks;
}

struct Cohort {
  std::vector<Rank> ranks;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max(), newest_ns = 0;
};
using Cohorts = std::map<Ranks, Cohort>;  // by the ranks of the group of all

std::int64_t newest_time(const Dump& dump) {
  std::int64_t newest = 0;
  for (const Entry& entry : dump.entries) newest = std::max({newest, entry.created_ns, entry.completed_ns});
  return newest;
}

template <class GroupOf>
Cohorts cohorts_of(const std::vector<Dump>& dumps, GroupOf group_of) {
  Cohorts cohorts;
  for (const Dump& dump : dumps) {
    Cohort& cohort = cohorts[group_of(dump)];
    cohort.ranks.push_back(dump.rank);
    cohort.newest_ns = std::max(cohort.newest_ns, newest_time(dump));
    for (const Entry& entry : dump.entries)
      if (entry.created_ns > 0) cohort.first_ns = std::min(cohort.first_ns, entry.created_ns);
  }
  return cohorts;
}

// Half of its ranks or fewer have a file.
bool is_scattered(const Ranks& world, const Cohort& cohort) { return 2 * cohort.ranks.size() <= world.size(); }

class Strangers {
 public:
  explicit Strangers(const std::vector<Dump>& dumps) : cohorts_(cohorts_of(dumps, default_group)) {
    std::size_t all = 0;
    for (const auto& [world, cohort] : cohorts_) all += world.empty() ? 0 : cohort.ranks.size();
    for (const auto& one : cohorts_)
      if (!one.first.empty() && 2 * one.second.ranks.size() > all) most_ = &one;
  }

  // Why this dump is not of the job of most; empty when it is, as far as it says.
  std::string reason(const Dump& dump) const {
    const Ranks own = default_group(dump);
    const bool names_it = std::any_of(dump.groups.begin(), dump.groups.end(), [&](const Group& group) {
      return is_default(group) && holds(group.ranks, dump.rank);
    });
    if (!own.empty() && !names_it)
      return fmt::format("its name says rank {}, but its default group has {}", dump.rank, text_of(own));
    if (most_ == nullptr || own == most_->first) return {};
    if (own.empty())
      return holds(most_->first, dump.rank)
                 ? std::string()
                 : fmt::format("rank {} is not in the default group, {}", dump.rank, text_of(most_->first));
    return is_of_another_time(own) ? std::string()
                                   : fmt::format("it belongs to another job: its default group has {}, that of most "
                                                 "files {}",
                                                 text_of(own), text_of(most_->first));
  }

  // Groups of this dump with ranks that the job does not have.
  void leave_out_groups(Dump& dump) const {
    if (most_ == nullptr || default_group(dump) != most_->first) return;
    std::erase_if(dump.groups, [&](const Group& group) {
      const auto outside = std::find_if(group.ranks.begin(), group.ranks.end(),
                                        [&](std::int64_t rank) { return !holds(most_->first, rank); });
      if (outside == group.ranks.end()) return false;
      dump.left_out.add(fmt::format("group {} of pg_config: it names rank {}, which is not in the default group, {}",
                                    group.name, *outside, text_of(most_->first)));
      return true;
    });
  }

 private:
  static bool holds(const Ranks& ranks, std::int64_t rank) { return std::binary_search(ranks.begin(), ranks.end(), rank); }

  // A run before or after that of most files is left to leave_out_stale, unless it is a few files of a later one.
  bool is_of_another_time(const Ranks& world) const {
    const Cohort& cohort = cohorts_.at(world);
    if (cohort.newest_ns != 0 && cohort.newest_ns < most_->second.first_ns) return true;
    if (most_->second.newest_ns == 0 || most_->second.newest_ns >= cohort.first_ns) return false;
    return is_scattered(most_->first, most_->second) || !is_scattered(world, cohort);
  }

  Cohorts cohorts_;
  const Cohorts::value_type* most_ = nullptr;
};

LeftOutFile stranger(const Dump& dump, std::string reason) { return {dump.file, dump.rank, std::move(reason)}; }

void leave_out_strangers(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  const Strangers strangers(dumps);
  std::erase_if(dumps, [&](const Dump& dump) {
    std::string reason = strangers.reason(dump);
    if (reason.empty()) return false;
    left_out.push_back(stranger(dump, std::move(reason)));
    return true;
  });
  for (Dump& dump : dumps) strangers.leave_out_groups(dump);
}

void leave_out_stale(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  const Cohorts cohorts = cohorts_of(dumps, largest_group);
  if (cohorts.size() < 2) return;
  const auto fresh = std::max_element(cohorts.begin(), cohorts.end(), [](const auto& a, const auto& b) {
    return a.second.newest_ns < b.second.newest_ns;
  });
  for (const auto& [world, cohort] : cohorts) {
    if (cohort.newest_ns == 0 || cohort.newest_ns >= fresh->second.first_ns) continue;
    const Ranks& stale = world;
    const std::string reason =
        fmt::format("from an earlier run with {} ranks, which ended {:.0f} s before this one began", stale.size(),
                    static_cast<double>(fresh->second.first_ns - cohort.newest_ns) / 1e9);
    std::erase_if(dumps, [&](const Dump& dump) {
      if (largest_group(dump) != stale) return false;
      left_out.push_back(stranger(dump, reason));
      left_out.back().is_fault = false;
      return true;
    });
  }
}

void leave_out_doubled(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  std::map<Rank, std::vector<std::size_t>> by_rank;
  for (std::size_t i = 0; i < dumps.size(); ++i) by_rank[dumps[i].rank].push_back(i);
  if (by_rank.size() == dumps.size()) return;
  std::vector<char> is_second(dumps.size(), 0);
  for (const auto& [rank, same] : by_rank) {
    const auto weight = [&](std::size_t i) { return std::tuple(newest_time(dumps[i]), dumps[i].entries.size()); };
    const std::size_t best =
        *std::max_element(same.begin(), same.end(), [&](std::size_t a, std::size_t b) { return weight(a) < weight(b); });
    for (const std::size_t i : same) {
      if (i == best) continue;
      is_second[i] = 1;
      const bool is_older = newest_time(dumps[i]) < newest_time(dumps[best]);
      left_out.push_back(stranger(dumps[i], fmt::format("a second dump of rank {}; {} {}", rank, dumps[best].file,
                                                        is_older ? "has newer calls and is used" : "is used")));
    }
  }
  std::vector<Dump> kept;
  for (std::size_t i = 0; i < dumps.size(); ++i)
    if (is_second[i] == 0) kept.push_back(std::move(dumps[i]));
  dumps = std::move(kept);
}

bool is_of_all_ranks(const Entry& entry) {
  return !entry.is_p2p && entry.collective_seq >= 0 && (entry.group_desc == "default_pg" || (entry.group_desc.empty() && entry.group == "0"));
}

bool needs_all(const Entry& entry) {
  const OpName op = op_name_of(entry.name);
  const CollectiveRow* kind = op.backend == "nccl" ? collective_named(op.name) : nullptr;
  return kind != nullptr && !kind->rooted;
}

// The newest call of the default group that the rank has made, as far as the dump says; -1: none.
std::int64_t newest_made(const Dump& dump) {
  std::int64_t made = -1;
  for (const Entry& entry : dump.entries)
    if (is_of_all_ranks(entry)) made = std::max(made, entry.collective_seq);
  for (const GroupStatus& status : dump.status)
    if (status.pg_id == "0") made = std::max(made, status.enqueued);
  return made;
}

// The newest call that completed in its time; null: none is known.
const Entry* newest_proven(const Dump& dump) {
  const Entry* proven = nullptr;
  std::int64_t later_ns = 0;  // when a later call that completed was made
  for (auto entry = dump.entries.rbegin(); entry != dump.entries.rend(); ++entry) {
    if (!is_of_all_ranks(*entry) || entry->state != EntryState::completed) continue;
    const bool is_newer = proven == nullptr || entry->collective_seq > proven->collective_seq;
    if (is_newer && entry->completed_ns > 0 && entry->completed_ns < later_ns && needs_all(*entry)) proven = &*entry;
    later_ns = std::max(later_ns, entry->created_ns);
  }
  return proven;
}

void leave_out_outdated(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  const Entry* proven = nullptr;
  for (const Dump& dump : dumps)
    if (const Entry* own = newest_proven(dump); own != nullptr && (proven == nullptr || own->collective_seq > proven->collective_seq)) proven = own;
  if (proven == nullptr) return;
  const std::int64_t seq = proven->collective_seq;
  const auto is_outdated = [seq](const Dump& dump) { return newest_made(dump) < seq; };
  const auto count = std::count_if(dumps.begin(), dumps.end(), is_outdated);
  if (count == 0 || count * 4 > static_cast<std::ptrdiff_t>(dumps.size())) return;
  std::erase_if(dumps, [&](const Dump& dump) {
    if (!is_outdated(dump)) return false;
    const std::int64_t made = newest_made(dump);
    left_out.push_back({dump.file, dump.rank,
                        fmt::format("{}, but other ranks completed call #{} of the default group, which needs this rank: the dump was written "
                                    "earlier, or the recorder was off",
                                    made < 0 ? "it lists no call" : fmt::format("its newest call is #{}", made), seq)});
    return true;
  });
}

}  // namespace

void keep_one_job(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out) {
  leave_out_strangers(dumps, left_out);
  leave_out_stale(dumps, left_out);
  leave_out_doubled(dumps, left_out);
  leave_out_outdated(dumps, left_out);
}

}  // namespace pdsim::scenarios::pytorch
