// Maps ranks of a group to ranks of the job, where the lines of a log prove it.
//
//   sorted   torch.distributed.new_group sorts the ranks of a group, so they follow the order of the job's ranks: where rank 3 of
//            a group is rank 3 of the job, ranks 0..2 are those of the job as well, and if ranks 0 and 2 are 4 and 6, rank 1 is 5
//   shared   PyTorch before 2.4 prints a process-local number instead of a group's name: two groups can have the same one
#pragma once

#include "core/base/types.h"

#include <map>
#include <optional>
#include <vector>

namespace pdsim::scenarios::logs {

struct LogFacts;

// The ranks of one group.
class GroupRanks {
 public:
  // A line says that this rank of the group is that rank of the job.
  void add(Rank in_group, Rank global);
  // Whether all lines can be about one group.
  bool is_one_group() const { return !conflicts_; }
  // Whether no line shows that the group's ranks differ from the job's.
  bool may_be_whole_job() const;
  // Absent: the lines do not prove it.
  std::optional<Rank> global(Rank in_group) const;
  // All proven members, ascending: ranks of the job.
  std::vector<Rank> proven_members() const;

 private:
  std::map<Rank, Rank> global_, in_group_;
  bool conflicts_ = false;
};

// Replaces ranks of groups by ranks of the job in every fact. A line that names no group counts as one about the whole job only
// in a log that shows no other group; LogFacts::assumed_ranks then names those ranks. Unknown ones keep their rank in the group.
void place_group_ranks(LogFacts& facts);

}  // namespace pdsim::scenarios::logs
