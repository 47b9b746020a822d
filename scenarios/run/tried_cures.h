// Applies and runs the cures that findings propose: only a cure that was run is reported as one.
//
//   order    in each finding those that cured first, the fewest collectives first, then the shortest run
//   fix      a change that is the finding's fix and leads to another problem is withdrawn: the next proposal takes its place, and
//            `fix_lines` reports the result. Where the problem is one that the report also has, it stays: both are needed
//   further  a change that leads to a problem with a fix of its own is tried once more with that one
#pragma once

#include "scenarios/run/run_scenarios.h"

namespace pdsim::scenarios {

// Runs the program of the report once for each change that its findings propose, in the simulated world, and notes how that
// ended. Skips runs too large to be repeated, and those of a real world.
void try_cures(Report& report, const WorldRow& world, const RunOptions& options);

}  // namespace pdsim::scenarios
