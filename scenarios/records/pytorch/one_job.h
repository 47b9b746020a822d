// Which of the dumps that lie together are of one job: a file that is not costs only itself, and its reason names it.
//
//   foreign   its default group does not have the rank that its name says, or has other ranks than that of most files; a group that
//             names a rank outside of the default group of most files is left out alone
//   stale     of a run before: its default group has other ranks, and it ends before the others begin
//   doubled   a second dump of a rank: the one with the newest call is used, then the one that lists more, then the first by name
#pragma once

#include "scenarios/records/left_out_file.h"
#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Removes from `dumps` what is not of their job; at most one of each rank remains.
void keep_one_job(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out);

}  // namespace pdsim::scenarios::pytorch
