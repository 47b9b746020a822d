#include "scenarios/diagnosis/analysis/attendance.h"

#include "scenarios/records/log_view.h"

#include <algorithm>

namespace pdsim::scenarios {

Attendance::Attendance(const RunRecord& run, const std::vector<const Call*>& asked) {
  for (const Call* call : asked)
    if (call->layer == Layer::collective) groups_[call->group].rows[call->seq];
  for (const RankResult& result : run.ranks) add(result.log);
}

void Attendance::add(const RankLog& log) {
  std::map<Group*, Seq> newest;
  Group* group = nullptr;
  std::string_view name;
  bool is_first = true;
  for (const Call& call : log.calls) {
    if (call.layer != Layer::collective) continue;
    if (is_first || name != call.group) {
      const auto found = groups_.find(call.group);
      group = found == groups_.end() ? nullptr : &found->second;
      name = call.group;
      is_first = false;
    }
    if (group == nullptr) continue;
    Seq& last = newest.try_emplace(group, -1).first->second;
    last = std::max(last, call.seq);
    const auto row = group->rows.find(call.seq);
    if (row == group->rows.end()) continue;
    if (row->second.empty() || row->second.back().first != log.rank) row->second.emplace_back(log.rank, &call);
  }
  if (!is_dumped(log)) return;
  std::map<Group*, Seq> reached;
  if (log.dropped > 0)
    for (const auto& [of, seq] : newest) reached[of] = seq - 1;  // the newest itself is listed
  for (const Note* note : notes_of<notes::GroupProgress>(log)) {
    const auto& progress = note->as<notes::GroupProgress>();
    const auto found = groups_.find(progress.group);
    if (found == groups_.end()) continue;
    Seq& last = reached.try_emplace(&found->second, -1).first->second;
    last = std::max(last, progress.enqueued);
  }
  for (const auto& [of, seq] : reached) of->reached.emplace_back(log.rank, seq);
}

const Attendance::Group* Attendance::group_of(const Call& call) const {
  const auto found = groups_.find(call.group);
  return found == groups_.end() ? nullptr : &found->second;
}

const Attendance::Row& Attendance::made(const Call& call) const {
  const Group* group = group_of(call);
  if (group == nullptr) return none_;
  const auto row = group->rows.find(call.seq);
  return row == group->rows.end() ? none_ : row->second;
}

bool Attendance::came_by_account(Rank rank, const Call& call) const {
  const Group* group = group_of(call);
  if (group == nullptr) return false;
  const auto at = std::lower_bound(group->reached.begin(), group->reached.end(), rank,
                                   [](const auto& reached, Rank r) { return reached.first < r; });
  return at != group->reached.end() && at->first == rank && at->second >= call.seq;
}

const Call* Attendance::of(Rank rank, const Call& call) const {
  const Row& row = made(call);
  const auto at =
      std::lower_bound(row.begin(), row.end(), rank, [](const auto& made, Rank r) { return made.first < r; });
  return at == row.end() || at->first != rank ? nullptr : at->second;
}

}  // namespace pdsim::scenarios
