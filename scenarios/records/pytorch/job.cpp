#include "scenarios/records/pytorch/job.h"

#include "core/record/record_check.h"
#include "scenarios/records/pytorch/calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

using Ranks = std::vector<std::int64_t>;

// The groups of all ranks. Names alone do not tell groups apart: those that were split from one have the same name on
// different ranks.
class Groups {
 public:
  explicit Groups(const std::vector<Dump>& dumps) {
    for (const Dump& dump : dumps)
      for (const Group& group : dump.groups) add(group.name, group.desc, group.ranks);
    for (const Dump& dump : dumps)
      for (const Entry& entry : dump.entries)
        if (find(entry, dump.rank) == all_.end()) add_user(entry, dump.rank);
    give_labels();
  }

  GroupView view(const Entry& entry, Rank rank) const {
    const auto found = find(entry, rank);
    return {found->second.label, &found->first.second};
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, about] : all_) visit(about.label, key.second);
  }

 private:
  struct About {
    std::string desc, label;
  };
  using Key = std::pair<std::string, Ranks>;
  using All = std::map<Key, About>;

  void add(const std::string& name, const std::string& desc, const Ranks& ranks) {
    About& about = all_[{name, ranks}];
    if (about.desc.empty()) about.desc = desc;
  }
  // A group that no pg_config tells of has the ranks that use it.
  void add_user(const Entry& entry, Rank rank) {
    Ranks ranks;
    if (unlisted_.count(entry.group) != 0) {
      const auto known = all_.lower_bound({entry.group, {}});  // the only one of this name
      ranks = known->first.second;
      all_.erase(known);
    }
    ranks.insert(std::lower_bound(ranks.begin(), ranks.end(), rank), rank);
    unlisted_.insert(entry.group);
    add(entry.group, entry.group_desc, ranks);
  }
  All::const_iterator find(const Entry& entry, Rank rank) const {
    for (auto it = all_.lower_bound({entry.group, {}}); it != all_.end() && it->first.first == entry.group; ++it)
      if (std::binary_search(it->first.second.begin(), it->first.second.end(), std::int64_t{rank})) return it;
    return all_.end();
  }

  // The description where it tells groups apart, else the name with it, else a number too.
  void give_labels() {
    std::map<std::string, int> descs, pairs, used;
    const auto desc_of = [](const auto& item) {
      return item.second.desc.empty() || item.second.desc == "undefined" ? item.first.first : item.second.desc;
    };
    const auto pair_of = [&](const auto& item) { return fmt::format("{} {}", desc_of(item), item.first.first); };
    for (const auto& item : all_) {
      ++descs[desc_of(item)];
      ++pairs[pair_of(item)];
    }
    for (auto& item : all_) {
      std::string& label = item.second.label;
      label = descs[desc_of(item)] == 1 ? desc_of(item) : pair_of(item);
      if (label.empty()) label = "unnamed";
      if (descs[desc_of(item)] == 1 || pairs[pair_of(item)] == 1) continue;
      constexpr std::size_t most_listed = 8;
      const int number = ++used[pair_of(item)];
      const Ranks& ranks = item.first.second;
      label += ranks.size() <= most_listed ? fmt::format(" [{}]", fmt::join(ranks, ", ")) : fmt::format("/{}", number);
    }
  }

  All all_;
  std::set<std::string> unlisted_;
};

std::int64_t first_time(const std::vector<Dump>& dumps) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Dump& dump : dumps)
    for (const Entry& entry : dump.entries)
      if (entry.created_ns > 0) first = std::min(first, entry.created_ns);
  return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
}

// How far apart the times of a job may be: 26 days to either side of the middle one.
constexpr std::int64_t farthest_ns = latest_recorded_ps / 2000;

std::int64_t newest_time(const std::vector<Dump>& dumps) {
  std::int64_t newest = 0;
  for (const Dump& dump : dumps)
    for (const Entry& e : dump.entries) newest = std::max({newest, e.created_ns, e.started_ns, e.completed_ns});
  return newest;
}

Result<std::size_t> world_size(const std::vector<Dump>& dumps) {
  std::int64_t last = -1;
  for (const Dump& dump : dumps) {
    last = std::max<std::int64_t>(last, dump.rank);
    for (const Group& group : dump.groups)
      if (!group.ranks.empty()) last = std::max(last, group.ranks.back());
  }
  if (last >= most_recorded_ranks)
    return Error{Code::input_invalid,
                 fmt::format("rank {} is beyond {}, the last that is read", last, most_recorded_ranks - 1),
                 {}};
  return static_cast<std::size_t>(last + 1);
}

// Entries that the ring lost, or that the dump left out (it can leave out what had completed).
std::int64_t lost_entries(const Dump& dump) {
  if (!dump.entries.empty()) {
    const std::int64_t made = dump.entries.back().record_id + 1;
    return std::max<std::int64_t>(made - static_cast<std::int64_t>(dump.entries.size()), 0);
  }
  std::int64_t enqueued = 0;
  for (const GroupStatus& status : dump.status) enqueued = std::max(enqueued, status.enqueued);
  return enqueued;
}

bool is_open(const Call& call) { return call.state == CallState::issued || call.state == CallState::started; }

// Whether the dumps were taken while the job ran: too soon after its newest entry for anything to be stuck.
bool is_running(const std::vector<Dump>& dumps, const JobOptions& options) {
  if (!options.written_ns) return false;
  std::int64_t limit_ns = options.patience.ns();
  for (const Dump& dump : dumps)
    for (const Entry& entry : dump.entries)
      if (entry.state != EntryState::completed && entry.timeout_ms > 0)
        limit_ns = std::min(limit_ns, (Time{1'000'000'000} * entry.timeout_ms).ns());
  const std::int64_t age = *options.written_ns - newest_time(dumps);
  return age >= 0 && age < limit_ns;
}

void add_group_notes(const Groups& groups, RunRecord& run) {
  groups.for_each([&](const std::string& label, const Ranks& ranks) {
    const Note made{-1, {}, {}, notes::GroupMade{label, 0, {ranks.begin(), ranks.end()}}};
    if (!ranks.empty()) run.ranks[static_cast<std::size_t>(ranks.front())].log.notes.push_back(made);
  });
}

}  // namespace

void leave_out_far_times(std::vector<Dump>& dumps) {
  std::vector<std::int64_t> created;
  for (const Dump& dump : dumps)
    for (const Entry& entry : dump.entries)
      if (entry.created_ns > 0) created.push_back(entry.created_ns);
  if (created.empty()) return;
  const auto middle = created.begin() + static_cast<std::ptrdiff_t>(created.size() / 2);
  std::nth_element(created.begin(), middle, created.end());
  const std::int64_t lowest = std::max<std::int64_t>(*middle - farthest_ns, 0), highest = *middle + farthest_ns;
  struct Moment {
    std::string_view name;
    std::int64_t Entry::*member;
  };
  constexpr std::array moments{Moment{"time_created_ns", &Entry::created_ns},
                               Moment{"time_discovered_started_ns", &Entry::started_ns},
                               Moment{"time_discovered_completed_ns", &Entry::completed_ns}};
  for (Dump& dump : dumps)
    std::erase_if(dump.entries, [&](const Entry& entry) {
      const auto* const far = std::find_if(moments.begin(), moments.end(), [&](const Moment& m) {
        return entry.*m.member != 0 && (entry.*m.member < lowest || entry.*m.member > highest);
      });
      if (far == moments.end()) return false;
      dump.left_out.add(fmt::format("the entry with record_id {}: {}, as most of the job's", entry.record_id,
                                    number_problem(far->name, std::to_string(entry.*far->member), lowest, highest)));
      return true;
    });
}

Result<RunRecord> run_of(std::vector<Dump> dumps, const JobOptions& options) {
  const Result<std::size_t> size = world_size(dumps);
  if (!size.ok()) return size.error();
  RunRecord run;
  run.ranks.resize(*size);
  for (std::size_t r = 0; r < *size; ++r) run.ranks[r].log.rank = static_cast<Rank>(r);
  const Groups groups(dumps);
  const std::int64_t epoch_ns = first_time(dumps);
  std::vector<char> has_dump(*size, 0);
  bool is_stuck = false;
  const bool runs = is_running(dumps, options);
  Sites sites;
  for (Dump& dump : dumps) {
    const auto rank = static_cast<std::size_t>(dump.rank);
    if (dump.rank < 0 || has_dump[rank] != 0)
      return Error{Code::input_invalid, fmt::format("there are two dumps of rank {}", dump.rank), {}};
    has_dump[rank] = 1;
    RankLog& log = run.ranks[rank].log;
    log.calls = calls_of(dump, epoch_ns, [&](const Entry& e) { return groups.view(e, dump.rank); }, sites);
    log.dropped = lost_entries(dump);
    std::vector<Entry>().swap(dump.entries);  // entries and calls of all ranks at once would take twice the memory
    is_stuck = is_stuck || std::any_of(log.calls.begin(), log.calls.end(), is_open);
    for (const Call& call : log.calls) run.elapsed = std::max({run.elapsed, call.issued, call.started, call.finished});
  }
  add_group_notes(groups, run);
  for (std::size_t r = 0; r < *size; ++r)
    if (has_dump[r] == 0) run.ranks[r].log.notes.push_back({-1, {}, {}, notes::NoRecord{}});
  run.deadlocked = is_stuck && !runs;
  run.deadlock_at = run.deadlocked ? run.elapsed : Time{};
  run.wall_ns = run.elapsed.ns();
  run.watchdog.resize(*size);
  return run;
}

}  // namespace pdsim::scenarios::pytorch
