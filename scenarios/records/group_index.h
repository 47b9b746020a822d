// The members of every group of a run, found in one pass over its notes and calls.
#pragma once

#include "core/group/rank_program.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

class GroupIndex {
 public:
  explicit GroupIndex(const RunRecord& run);
  // Sorted: all ranks for `world` and the empty name, else those that new_group named and those that ever called in it.
  const std::vector<Rank>& members(std::string_view group) const;
  // Whether the group may have more members than the record names.
  bool is_open_ended(std::string_view group) const;

 private:
  struct Members {
    std::vector<Rank> ranks;
    bool open_ended = false;
    bool is_noted = false;
  };
  std::map<std::string, Members, std::less<>> groups_;
  Members world_, none_;
};

}  // namespace pdsim::scenarios
