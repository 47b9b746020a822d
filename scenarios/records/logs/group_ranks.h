// Which rank of the job a rank of a group is, as far as the lines of a log prove it.
//
//   sorted   torch.distributed.new_group sorts the ranks of a group, so they stand in the order of the job's ranks: where rank 3 of a group
//            is rank 3 of the job, ranks 0..2 are those of the job as well, and between ranks 0 and 2, which are 4 and 6, stands 5
//   shared   PyTorch before 2.4 prints a number of the process in place of a group's name: two groups can have one
#pragma once

#include "core/base/types.h"

#include <map>
#include <optional>
#include <vector>

namespace pdsim::scenarios::logs {

struct LogFacts;

// Of one group.
class GroupRanks {
 public:
  // A line says that this rank of the group is that rank of the job.
  void add(Rank in_group, Rank global);
  // Whether all lines can be about one group.
  bool is_one_group() const { return !conflicts_; }
  // Whether no line shows that the ranks of the group are others than those of the job.
  bool may_be_whole_job() const;
  // Absent: the lines do not prove it.
  std::optional<Rank> global(Rank in_group) const;
  // All that are proven, ascending: ranks of the job.
  std::vector<Rank> proven_members() const;

 private:
  std::map<Rank, Rank> global_, in_group_;
  bool conflicts_ = false;
};

// Gives every fact the ranks of the job where lines give ranks of a group. A line that names no group is taken for one of the whole job
// only in a log that shows no other group; LogFacts::assumed_ranks then names those ranks. What stays unknown keeps its rank in the group.
void place_group_ranks(LogFacts& facts);

}  // namespace pdsim::scenarios::logs
