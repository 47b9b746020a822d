#include "scenarios/records/pytorch/job.h"

#include "core/record/record_check.h"
#include "scenarios/records/pytorch/age.h"
#include "scenarios/records/pytorch/calls.h"
#include "scenarios/records/pytorch/failed_calls.h"
#include "scenarios/records/pytorch/progress.h"
#include "scenarios/records/pytorch/torchcomms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
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
      for (const Group& group : dump.groups) {
        const bool is_default = group.name.empty() && group.desc.empty();  // so Gloo writes it; its entries call it so
        add(is_default ? "0" : group.name, is_default ? "default_pg" : group.desc, group.ranks);
      }
    for (const Dump& dump : dumps) {
      std::set<std::int64_t> seen;
      for (const Entry& entry : dump.entries) {
        if (find(entry, dump.rank) == all_.end()) add_user(entry, dump.rank);
        if (!seen.insert(entry.pg_id).second) continue;
        Names& names = ids_[entry.pg_id];
        names.names.insert(entry.group);
        names.descs.insert(entry.group_desc);
      }
    }
    give_labels();
  }

  GroupView view(const Entry& entry, Rank rank) const {
    const auto found = find(entry, rank);
    return {found->second.label, &found->first.second};
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, about] : all_) visit(about.label, key.second, unlisted_.count(key.first) != 0);
  }

  // Which of the rank's groups a row of its pg_status is about.
  std::string of_status(const Dump& dump, const GroupStatus& status) const {
    std::int64_t id = -1;
    std::from_chars(status.pg_id.data(), status.pg_id.data() + status.pg_id.size(), id);
    const auto own = ids_.find(id);
    for (const Entry& entry : dump.entries)
      if (entry.pg_id == id) return view(entry, dump.rank).label;
    std::vector<const About*> by_others, mine;
    const About* named = nullptr;
    for (const auto& [key, about] : all_) {
      if (!std::binary_search(key.second.begin(), key.second.end(), std::int64_t{dump.rank})) continue;
      mine.push_back(&about);
      if (key.first == status.pg_id) named = &about;
      if (own != ids_.end() && (own->second.names.count(key.first) != 0 ||
                                (!about.desc.empty() && own->second.descs.count(about.desc) != 0)))
        by_others.push_back(&about);
    }
    if (by_others.size() == 1) return by_others.front()->label;
    if (named != nullptr && own == ids_.end()) return named->label;
    return mine.size() == 1 ? mine.front()->label : std::string();
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

  struct Names {
    std::set<std::string> names, descs;
  };

  All all_;
  std::set<std::string> unlisted_;
  std::map<std::int64_t, Names>
      ids_;  // by pg_id, as entries of any rank have it: programs make their groups in one order
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

Result<std::size_t> world_size(const std::vector<Dump>& dumps) {
  std::int64_t last = -1;
  for (const Dump& dump : dumps) {
    last = std::max<std::int64_t>(last, dump.rank);
    for (const Group& group : dump.groups)
      if (!group.ranks.empty()) last = std::max(last, group.ranks.back());
  }
  if (last >= most_recorded_ranks)
    return Error{Code::input_invalid,
                 fmt::format("rank {} is above {}, the highest that is read", last, most_recorded_ranks - 1),
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

// Some libraries number messages and collectives together and list only the collectives. Returns how many messages came before
// the newest listed collective.
int unlisted_messages(const Dump& dump) {
  std::map<std::string, std::int64_t> most;
  for (const Entry& entry : dump.entries)
    if (!entry.is_p2p && entry.name.starts_with("gloo:") && entry.op_id > entry.collective_seq)
      most[entry.group] = std::max(most[entry.group], entry.op_id - entry.collective_seq);
  std::int64_t all = 0;
  for (const auto& [group, count] : most) all = std::min<std::int64_t>(all + std::min(count, most_values), most_values);
  return static_cast<int>(all);
}

// Whether the recorder took frames: of all calls but those of autograd's own threads, which have none.
bool have_frames(const std::vector<Dump>& dumps) {
  const auto lacks_them = [](const Entry& e) { return e.frames->empty() && !is_of_autograd(e); };
  const auto has_them = [](const Entry& e) { return !e.frames->empty(); };
  return std::all_of(dumps.begin(), dumps.end(), [&](const Dump& dump) {
    const std::vector<Entry>& all = dump.entries;
    return all.empty() || (std::none_of(all.begin(), all.end(), lacks_them) && std::any_of(all.begin(), all.end(), has_them));
  });
}

// Whether the first rank's calls show DistributedDataParallel; the others run the same program.
bool have_wrapper(const std::vector<Dump>& dumps) {
  const auto is_wrappers = [](const Frame& frame) { return frame.file.ends_with("nn/parallel/distributed.py"); };
  return !dumps.empty() && std::any_of(dumps.front().entries.begin(), dumps.front().entries.end(), [&](const Entry& e) {
    return std::any_of(e.frames->begin(), e.frames->end(), is_wrappers);
  });
}

// The age of a dump's file on the clock of the run.
notes::Dumped about(const Dump& dump, std::int64_t epoch_ns) {
  const std::optional<std::int64_t> written = believed_time(dump);
  return {dump.host, epoch_ns, written && epoch_ns > 0 ? *written - epoch_ns : -1, unlisted_messages(dump)};
}

// A group that no pg_config lists has those ranks that used it, and where no call of it is done perhaps more.
void add_group_notes(const Groups& groups, RunRecord& run) {
  std::set<std::string> used;
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls)
      if (call.state == CallState::completed) used.insert(call.group);
  groups.for_each([&](const std::string& label, const Ranks& ranks, bool is_unlisted) {
    const Note made{
        -1, {}, {}, notes::GroupMade{label, 0, {ranks.begin(), ranks.end()}, is_unlisted && used.count(label) == 0}};
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

Result<RunRecord> run_of(std::vector<Dump> dumps, const std::vector<Rank>& unreadable) {
  const Result<std::size_t> size = world_size(dumps);
  if (!size.ok()) return size.error();
  RunRecord run;
  run.ranks.resize(*size);
  for (std::size_t r = 0; r < *size; ++r) run.ranks[r].log.rank = static_cast<Rank>(r);
  number_by_communicator(dumps);
  mark_failed(dumps);
  const Groups groups(dumps);
  const CallOptions calls{first_time(dumps), ends_by_retiring(dumps), have_frames(dumps), have_wrapper(dumps)};
  std::vector<char> has_dump(*size, 0);
  bool is_stuck = false;
  const bool runs = was_running(dumps);
  const std::vector<ProgressRow> progress =
      progress_of(dumps, [&](const Dump& dump, const GroupStatus& status) { return groups.of_status(dump, status); });
  Sites sites;
  for (Dump& dump : dumps) {
    const auto rank = static_cast<std::size_t>(dump.rank);
    if (dump.rank < 0 || has_dump[rank] != 0)
      return Error{Code::input_invalid, fmt::format("there are two dumps of rank {}", dump.rank), {}};
    has_dump[rank] = 1;
    RankLog& log = run.ranks[rank].log;
    log.calls = calls_of(
        dump, calls, [&](const Entry& e) { return groups.view(e, dump.rank); }, sites);
    log.dropped = lost_entries(dump);
    log.notes.push_back({-1, {}, {}, about(dump, calls.epoch_ns)});
    std::vector<Entry>().swap(dump.entries);  // entries and calls of all ranks at once would take twice the memory
    for (const Call& call : log.calls) run.elapsed = std::max({run.elapsed, call.issued, call.started, call.finished});
  }
  add_group_notes(groups, run);
  for (std::size_t r = 0; r < *size; ++r)
    if (has_dump[r] == 0) {
      const bool damaged = std::find(unreadable.begin(), unreadable.end(), static_cast<Rank>(r)) != unreadable.end();
      run.ranks[r].log.notes.push_back({-1, {}, {}, notes::NoRecord{damaged}});
    }
  note_progress(progress, run);
  settle_aborted(run);
  if (calls.ends_by_retiring) doubt_retired(run);
  for (const RankResult& result : run.ranks)
    is_stuck = is_stuck || std::any_of(result.log.calls.begin(), result.log.calls.end(), is_unfinished);
  run.deadlocked = is_stuck && !runs;
  run.deadlock_at = run.deadlocked ? run.elapsed : Time{};
  run.wall_ns = run.elapsed.ns();
  run.watchdog.resize(*size);
  return run;
}

}  // namespace pdsim::scenarios::pytorch
