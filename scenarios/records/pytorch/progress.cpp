#include "scenarios/records/pytorch/progress.h"

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

// The newest listed collective of a rank and group; absent if messages share the numbers, or none is listed.
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

namespace {

using CallKey = std::pair<std::string_view, Seq>;

bool is_over(const Call& call) { return call.state == CallState::completed || call.state == CallState::timed_out; }

// When the calls of a rank were ended together: the first end of a call at its timeout. A group in which a later call
// completed was not ended, so its late calls are only late. Time::max(): never.
Time end_of_all(std::vector<Call>& calls) {
  std::map<std::string_view, Time> alive;
  for (const Call& call : calls)
    if (call.state == CallState::completed) {
      Time& last = alive.try_emplace(call.group, Time{-1}).first->second;
      last = std::max(last, call.issued);
    }
  Time first = Time::max();
  for (Call& call : calls) {
    if (call.state != CallState::timed_out) continue;
    const auto group = alive.find(call.group);
    if (call.finished <= call.issued || group == alive.end() || group->second <= call.finished) {
      first = std::min(first, call.finished);
    } else {
      call.state = CallState::completed;
    }
  }
  return first;
}

class AbortedCalls {
 public:
  explicit AbortedCalls(RunRecord& run) : run_(run) {
    for (RankResult& result : run.ranks) ends_.push_back(end_of_all(result.log.calls));
  }

  void settle() {
    if (std::all_of(ends_.begin(), ends_.end(), [](const Time& end) { return end == Time::max(); })) return;
    collect();
    for (std::size_t r = 0; r < run_.ranks.size(); ++r)
      for (Call& call : run_.ranks[r].log.calls)
        if (is_ended(r, call)) (failed(call) ? reopen(call) : complete(call));
  }

 private:
  // Ended by its timeout, or over at the moment at which the rank's calls were ended, and made before.
  bool is_ended(std::size_t rank, const Call& call) const {
    if (call.state == CallState::timed_out) return true;
    return call.state == CallState::completed && call.finished >= ends_[rank] && call.issued <= ends_[rank];
  }

  void collect() {
    for (std::size_t r = 0; r < run_.ranks.size(); ++r)
      for (const Call& call : run_.ranks[r].log.calls)
        if (call.seq >= 0 && is_over(call) && !is_ended(r, call)) completed_.insert({call.group, call.seq});
  }

  bool failed(const Call& call) const {
    return call.seq < 0 || call.state == CallState::timed_out || completed_.count({call.group, call.seq}) == 0;
  }

  static void complete(Call& call) { call.state = CallState::completed; }
  static void reopen(Call& call) {
    call.state = CallState::issued;
    call.error = Code::watchdog_timeout;
    call.message = call.finished > call.issued
                       ? fmt::format("aborted {} after it was made", to_string(call.finished - call.issued))
                       : "retired, and failed";
    call.finished = {};
  }

  RunRecord& run_;
  std::vector<Time> ends_;  // by rank
  std::set<CallKey> completed_;  // collectives that completed on some rank
};

}  // namespace

void settle_aborted(RunRecord& run) { AbortedCalls(run).settle(); }

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
