#include "scenarios/guests/saved/group_names.h"

#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pdsim::scenarios::guests {
namespace {

std::string as_a_name(std::string_view recorded) {
  std::string name;
  for (const char c : recorded) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += letter ? c : '_';
  }
  const bool is_free = !name.empty() && name != "world" && (name.front() < '0' || name.front() > '9');
  return is_free ? name : "group_" + name;
}

}  // namespace

GroupNames::GroupNames(const RunRecord& run) {
  std::set<std::string> taken;
  for (const RankResult& rank : run.ranks)
    for (const Note* note : notes_of<notes::GroupMade>(rank.log)) {
      const auto& group = note->as<notes::GroupMade>();
      std::string& name = names_[{group.group, group.ranks}];
      const std::string plain = as_a_name(group.group);
      for (int n = 1; name.empty(); ++n) {
        const std::string next = n == 1 ? plain : fmt::format("{}_{}", plain, n);
        if (taken.insert(next).second) name = next;
      }
      const bool is_member = std::find(group.ranks.begin(), group.ranks.end(), rank.log.rank) != group.ranks.end();
      if (is_member) of_rank_[{rank.log.rank, group.group}] = name;
    }
}

std::string GroupNames::of(Rank rank, std::string_view recorded) const {
  const auto found = of_rank_.find({rank, std::string(recorded)});
  return found == of_rank_.end() ? "world" : found->second;
}

std::string GroupNames::made(std::string_view recorded, const std::vector<Rank>& ranks) const {
  const auto found = names_.find({std::string(recorded), ranks});
  return found == names_.end() ? "world" : found->second;
}

}  // namespace pdsim::scenarios::guests
