// Conclusions from a wait graph: circles, and ranks that nothing can release.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// The shortest circle of ranks that wait for each other, through the smallest rank; empty when there is none. A rank that waits
// for any one of several is in no circle. In worlds of thousands of lists a circle may go unseen: it illustrates, and proves
// nothing.
std::vector<Rank> wait_cycle(const std::vector<BlockedRank>& blocked);

// The ranks that can never continue, whatever the others do: first released are ranks without waits, then those for which all
// (or, for `any`, one) of the awaited ranks are released. `finished` ranks never release another. Linear in the lists.
std::vector<Rank> never_released(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished, int ranks);

}  // namespace pdsim::scenarios
