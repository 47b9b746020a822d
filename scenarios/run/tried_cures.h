// Cures that a finding proposes, made and run on the spot: what is reported as a cure is one that was run.
//
//   order    in each finding what cured first, the fewest collectives first, then the shortest run
//   fix      a change that is the finding's fix and leads to another problem is taken back: the next proposal takes its place, and
//            `fix_lines` says what came of it. Where the problem is one that the report also has, it stays: both are needed
//   further  a change that leads to a problem with a fix of its own is tried once more with that one
#pragma once

#include "scenarios/run/run_scenarios.h"

namespace pdsim::scenarios {

// Runs the program of the report once for each change that its findings propose, in the simulated world, and notes how that ended.
// A run too large to be repeated is left alone, and so is one of a real world.
void try_cures(Report& report, const WorldRow& world, const RunOptions& options);

}  // namespace pdsim::scenarios
