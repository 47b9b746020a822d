// Cures that a finding proposes, made and run on the spot: what is reported as a cure is one that was run.
#pragma once

#include "scenarios/run/run_scenarios.h"

namespace pdsim::scenarios {

// Runs the program of the report once for each change that its findings propose, in the simulated world, and notes how that ended.
// A run too large to be repeated is left alone, and so is one of a real world.
void try_cures(Report& report, const WorldRow& world, const RunOptions& options);

}  // namespace pdsim::scenarios
