#include "scenarios/records/group_index.h"

#include <algorithm>
#include <numeric>

namespace pdsim::scenarios {

GroupIndex::GroupIndex(const RunRecord& run) {
  const std::size_t size = run.ranks.size();
  world_.ranks.resize(size);
  std::iota(world_.ranks.begin(), world_.ranks.end(), 0);
  for (std::size_t r = 0; r < size; ++r) {
    const RankLog& log = run.ranks[r].log;
    for (const Note& note : log.notes) {
      if (!note.is<notes::GroupMade>()) continue;
      const auto& made = note.as<notes::GroupMade>();
      Members& group = groups_[made.group];
      if (!group.is_noted) group.open_ended = made.open_ended;
      group.is_noted = true;
      for (const Rank rank : made.ranks)
        if (rank >= 0 && static_cast<std::size_t>(rank) < size) group.ranks.push_back(rank);
    }
    for (const Call& call : log.calls) {
      std::vector<Rank>& ranks = groups_[call.group].ranks;
      if (ranks.empty() || ranks.back() != static_cast<Rank>(r)) ranks.push_back(static_cast<Rank>(r));
    }
  }
  for (auto& [name, group] : groups_) {
    std::sort(group.ranks.begin(), group.ranks.end());
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
  }
}

const std::vector<Rank>& GroupIndex::members(std::string_view group) const {
  if (group == "world" || group.empty()) return world_.ranks;
  const auto found = groups_.find(group);
  return found == groups_.end() ? none_.ranks : found->second.ranks;
}

bool GroupIndex::is_open_ended(std::string_view group) const {
  const auto found = groups_.find(group);
  return found != groups_.end() && found->second.open_ended;
}

}  // namespace pdsim::scenarios
