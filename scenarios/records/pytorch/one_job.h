// Selects the dumps of one job among dumps stored together: a file of another job is left out alone, and its reason names it.
//
//   foreign   its default group does not have the rank in its name, or has other ranks than that of most files; a group that
//             names a rank outside the default group of most files is left out alone
//   stale     from an earlier run: its default group has other ranks, and it ends before the others begin
//   doubled   a second dump of a rank: the one with the newest call is used, then the one that lists more, then the first by name//   outdated  it shows less of its rank than others prove: it is older, or its recorder was off. A rank completed a call that needs all ranks of the
//             default group, made a later one, and completed that too, so it was not an abort that ended the first: every rank had made that
//             call. Where more than a quarter of the dumps are older, the job was dumped rank by rank, and all are used
#pragma once

#include "scenarios/records/left_out_file.h"
#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Removes from `dumps` those of other jobs; at most one of each rank remains.
void keep_one_job(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out);

}  // namespace pdsim::scenarios::pytorch
