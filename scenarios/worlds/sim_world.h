// The simulated world as a WorldRunner.
#pragma once

#include "scenarios/worlds/world.h"

#include <memory>
#include <string>

namespace pdsim::scenarios {

std::unique_ptr<WorldRunner> sim_world();

// Repeats the run that gave `first` (sim/world/determinism.h): "" when nothing differs, else the first event that does.
Result<std::string> difference_on_rerun(const RunRecord& first, const Scenario& scenario, const RunOptions& options);

}  // namespace pdsim::scenarios
