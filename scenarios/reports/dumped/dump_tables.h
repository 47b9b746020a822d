// The tables of the report on dumps: progress by process group, waits by rank, and the state of the ranks. Equal ranks are one
// row, and groups in the same state are one block.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/reports/dumped/wall_clock.h"

#include <string>

namespace pdsim::scenarios {

std::string groups_table(const Report& report, const WallClock& clock);
std::string dumped_waits(const Report& report);
// Ranks accused by a finding come first.
std::string dumped_states(const Report& report, const WallClock& clock);

}  // namespace pdsim::scenarios
