// Changes of single operations of a program, for rules that know the right operation. They are only proposed here; scenarios/run
// applies and runs them.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// Turns adjacent isend and irecv of this group into one batch_isend_irecv, and removes their waits.
Cure in_one_batch(const std::string& group);

// Adds a barrier of the group, whose ranks these are, before the operation at `place`, or before the loop around it.
Cure barrier_before(const Mark& place, const std::string& group, const std::vector<Rank>& members);

// Makes the reduce at `place` give every rank the result.
Cure all_reduce_for_reduce(const Mark& place);

// For sharded models, whose forwards and checkpoints all ranks make together: every rank makes as many forwards as the longest of
// several `eval` loops; takes the model's usual path; gathers for the checkpoint at `line`, which rank 0 writes; clips by the
// norm of all shards.
Cure same_evaluations();
Cure same_path_on_all_ranks();
Cure state_on_all_ranks(int line);
Cure norm_of_all_shards();

// Gives each operation of `from` the options of the one in `to` at the same place of the list, if that is of its kind: an optimizer_step
// its learning rate, momentum and scale, a clip_grad_norm its norm.
struct OptionsApart {
  std::vector<Mark> from, to;
};
Cure options_of_the_others(std::string what, OptionsApart apart);

// Makes the operation at `place` run in every round of the loops around it, on the ranks that run it in some.
Cure in_every_round(std::string what, const Mark& place);

// Makes all ranks run the operation at `place`, in the rounds in which some do.
Cure on_all_ranks(std::string what, const Mark& place);

// Synchronises what is inside of no_sync.
Cure without_no_sync();

// Makes every rank call every new_group of the program.
Cure new_groups_on_all_ranks();

}  // namespace pdsim::scenarios::diagnoses
