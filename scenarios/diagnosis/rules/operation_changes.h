// Changes of single operations of a program, for rules that know what should stand there. They are only proposed here; scenarios/run makes
// and runs them.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// isend and irecv that stand together in this group become one batch_isend_irecv, and the waits for them go.
Cure in_one_batch(const std::string& group);

// These ranks, the group's, meet in a barrier of the group before the operation at `place`, or the loop around it.
Cure barrier_before(const Mark& place, const std::string& group, const std::vector<Rank>& members);

// The reduce at `place` gives every rank the result.
Cure all_reduce_for_reduce(const Mark& place);

// Of sharded models, whose forwards and checkpoints all ranks make together: every rank makes the same number of forwards as the longest of
// several `eval` loops; takes the model's usual path; gathers for the checkpoint at `line`, which rank 0 writes; clips by the norm of
// all shards.
Cure same_evaluations();
Cure same_path_on_all_ranks();
Cure state_on_all_ranks(int line);
Cure norm_of_all_shards();

// Every rank calls every new_group of the program.
Cure new_groups_on_all_ranks();

}  // namespace pdsim::scenarios::diagnoses
