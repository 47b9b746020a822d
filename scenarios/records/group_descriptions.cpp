#include "scenarios/records/group_descriptions.h"

#include <algorithm>
#include <map>

namespace pdsim::scenarios {

std::string_view identity_of_group(std::string_view name) { return name.substr(name.rfind(' ') + 1); }

std::vector<GroupDescriptions> give_groups_one_name(RunRecord& run) {
  using Key = std::pair<std::string, std::vector<Rank>>;  // the identity, and the members
  std::map<Key, std::size_t> known;
  std::vector<GroupDescriptions> groups;
  for (RankResult& rank : run.ranks) {
    std::map<std::string, std::string> renamed;
    for (Note& note : rank.log.notes) {
      if (!note.is<notes::GroupMade>()) continue;
      auto& made = std::get<notes::GroupMade>(note.body);
      const auto [at, is_new] = known.try_emplace({std::string(identity_of_group(made.group)), made.ranks}, groups.size());
      if (is_new) groups.push_back({made.ranks, {}});
      auto& names = groups[at->second].names;
      auto name = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == made.group; });
      if (name == names.end()) name = names.insert(names.end(), {made.group, {}});
      name->second.push_back(rank.log.rank);
      const bool is_member = std::find(made.ranks.begin(), made.ranks.end(), rank.log.rank) != made.ranks.end();
      if (is_member) renamed[made.group] = names.front().first;
      made.group = names.front().first;
    }
    for (Note& note : rank.log.notes)
      if (auto* used = std::get_if<notes::BackendUsed>(&note.body))
        if (const auto name = renamed.find(used->group); name != renamed.end()) used->group = name->second;
    for (Call& call : rank.log.calls)
      if (const auto name = renamed.find(call.group); name != renamed.end()) call.group = name->second;
  }
  std::erase_if(groups, [](const GroupDescriptions& group) { return group.names.size() < 2; });
  return groups;
}

}  // namespace pdsim::scenarios
