// Names of a record's process groups in a scenario, where each group has one name of letters, digits and underscores.
#pragma once

#include "core/group/rank_program.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::guests {

class GroupNames {
 public:
  explicit GroupNames(const RunRecord& run);
  // "world", or the name of the group that this rank knows by the record's name.
  std::string of(Rank rank, std::string_view recorded) const;
  // Returns the name of a group that was created, by its ranks.
  std::string made(std::string_view recorded, const std::vector<Rank>& ranks) const;

 private:
  using Group = std::pair<std::string, std::vector<Rank>>;
  std::map<Group, std::string> names_;
  std::map<std::pair<Rank, std::string>, std::string> of_rank_;
};

}  // namespace pdsim::scenarios::guests
