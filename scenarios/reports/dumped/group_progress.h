// Each rank's progress in each process group of a dump: the numbers of its newest collective and of the newest that is done.
//
//   numbers   of the listed calls, and of the rank's own account of the group where that is ahead
//   order     groups whose ranks differ first, then those with open calls, then the others; by name
//   cost      one pass over the calls
#pragma once

#include "core/group/rank_program.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct MemberProgress {
  Seq enqueued = -1, completed = -1;  // -1: none is known
  const Call* open = nullptr;         // the oldest open call of the rank in this group
  bool perhaps_failed = false;        // the newest that is done may have failed (pytorch/progress.h)
  bool lost = false;                  // the rank has no record
};

// Members of a group with the same progress.
struct GroupPart {
  std::vector<Rank> ranks;
  MemberProgress progress;
};

struct GroupState {
  std::string name;
  std::vector<GroupPart> parts;  // the farthest behind first
  bool is_apart = false;         // members differ
  bool is_open = false;          // some call is open
};

std::vector<GroupState> group_states(const RunRecord& run);

}  // namespace pdsim::scenarios
