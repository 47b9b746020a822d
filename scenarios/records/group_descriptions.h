// Groups that some ranks describe differently, such as meshes whose dimensions have other names there. PyTorch distinguishes
// groups by the last word of pdsim's name for them ("mesh_rows 1"), a count or a hash that is the same on all ranks.
#pragma once

#include "core/group/rank_program.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

// The part that identifies the group: "1" of "mesh_rows 1".
std::string_view identity_of_group(std::string_view name);

struct GroupDescriptions {
  std::vector<Rank> members;
  std::vector<std::pair<std::string, std::vector<Rank>>> names;  // and the ranks that use each, by the first of them; two or more
};

// Gives each group of the record the name that its first rank uses, in all calls and notes. Returns the groups that had several,
// in the order of that rank's calls. Cost: one pass.
std::vector<GroupDescriptions> give_groups_one_name(RunRecord& run);

}  // namespace pdsim::scenarios
