// Dumps that show less of a rank than others prove: older ones, and those of a recorder that was off.
//
//   proof    a rank completed a call that needs all ranks of the default group, made a later one, and completed that too, so it was not an
//            abort that ended the first; so every rank had made that call, also one whose dump does not count as many
//   few      where more than a quarter of the dumps are older, the job was dumped rank by rank, and all of them are used
#pragma once

#include "scenarios/records/left_out_file.h"
#include "scenarios/records/pytorch/dump.h"

#include <vector>

namespace pdsim::scenarios::pytorch {

// Removes such dumps, so that their ranks count as without a record: nothing is concluded from what they do not show.
void leave_out_outdated(std::vector<Dump>& dumps, std::vector<LeftOutFile>& left_out);

}  // namespace pdsim::scenarios::pytorch
