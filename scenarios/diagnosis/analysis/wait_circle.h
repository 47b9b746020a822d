// What follows from who waits for whom: circles, and ranks that nothing can release.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// The shortest circle of ranks that wait for each other, through the smallest rank; empty when there is none.
// Who waits for one of several is in no circle. In worlds of thousands of lists a circle may go unseen: it illustrates, and proves nothing.
std::vector<Rank> wait_cycle(const std::vector<BlockedRank>& blocked);

// The ranks that can never go on, whatever the others do: released are those that wait for nobody, then those all (or,
// for `any`, one) of whose waits are released. `finished` never release anybody. Linear in the lists.
std::vector<Rank> never_released(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished, int ranks);

}  // namespace pdsim::scenarios
