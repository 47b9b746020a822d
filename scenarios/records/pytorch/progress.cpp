#include "scenarios/records/pytorch/progress.h"

#include "scenarios/records/group_index.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/pytorch/calls.h"
#include "scenarios/records/pytorch/torchcomms.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace pdsim::scenarios::pytorch {

bool ends_by_retiring(const std::vector<Dump>& dumps) {
  bool any = false, all_gloo = true;
  for (const Dump& dump : dumps)
    for (const Entry& entry : dump.entries) {
      if (entry.state != EntryState::scheduled) return false;
      all_gloo = all_gloo && entry.name.starts_with("gloo:");
      any = true;
    }
  return any && (all_gloo || std::any_of(dumps.begin(), dumps.end(), is_of_torchcomms));
}

namespace {

// Of each rank and group the newest collective that is listed; absent where messages share the numbers, or there is none.
struct Listed {
  Seq newest = -1;
  bool has_messages = false;
};

std::map<std::pair<Rank, std::string>, Listed> listed_in(const RunRecord& run) {
  std::map<std::pair<Rank, std::string>, Listed> listed;
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls) {
      Listed& here = listed[{result.log.rank, call.group}];
      here.newest = std::max(here.newest, call.seq);
      here.has_messages = here.has_messages || call.layer == Layer::point_to_point;
    }
  return listed;
}

}  // namespace

std::vector<ProgressRow> progress_of(const std::vector<Dump>& dumps, const GroupOf& group_of) {
  std::vector<ProgressRow> rows;
  for (const Dump& dump : dumps)
    for (const GroupStatus& status : dump.status)
      if (std::string group = group_of(dump, status); !group.empty())
        rows.push_back({dump.rank, {std::move(group), status.enqueued, status.completed}});
  return rows;
}

void note_progress(const std::vector<ProgressRow>& rows, RunRecord& run) {
  std::set<std::string> other_numbers;  // groups whose status counts something else
  const auto listed = listed_in(run);
  for (const auto& [key, here] : listed)
    if (here.has_messages) other_numbers.insert(key.second);
  for (const ProgressRow& row : rows) {
    const auto here = listed.find({row.rank, row.progress.group});
    if (here != listed.end() && here->second.newest >= 0 && here->second.newest != row.progress.enqueued)
      other_numbers.insert(row.progress.group);
  }
  for (const ProgressRow& row : rows)
    if (other_numbers.count(row.progress.group) == 0)
      run.ranks[static_cast<std::size_t>(row.rank)].log.notes.push_back({-1, {}, {}, row.progress});
}

void settle_aborted(RunRecord& run) {
  const GroupIndex groups(run);
  std::map<std::pair<std::string, Seq>, bool> all_came;
  for (RankResult& result : run.ranks)
    for (Call& call : result.log.calls) {
      if (call.state != CallState::timed_out) continue;
      const auto [known, is_new] = all_came.try_emplace({call.group, call.seq}, true);
      if (is_new && call.seq >= 0) {
        for (const Rank r : groups.members(call.group))
          if (!is_lost(log_of(run, r)) && !has_come(log_of(run, r), call.group, call.seq)) known->second = false;
      }
      if (known->second) {
        call.state = CallState::completed;
        continue;
      }
      call.state = CallState::issued;
      call.error = Code::watchdog_timeout;
      call.message = call.finished > call.issued
                         ? fmt::format("aborted {} after it was made", to_string(call.finished - call.issued))
                         : "retired, and failed";
      call.finished = {};
    }
}

void doubt_retired(RunRecord& run) {
  std::set<std::pair<std::string, Seq>> open;
  for (const RankResult& result : run.ranks)
    for (const Call& call : result.log.calls)
      if (call.seq >= 0 && is_open_at(call, Time::max())) open.emplace(call.group, call.seq);
  for (RankResult& result : run.ranks)
    for (Call& call : result.log.calls)
      if (call.state == CallState::completed && open.count({call.group, call.seq}) != 0)
        call.message = "retired, which it is when it failed as well";
}

}  // namespace pdsim::scenarios::pytorch
