// The simulated world as a WorldRunner.
#pragma once

#include "scenarios/engine/world.h"

#include <memory>

namespace pdsim::scenarios {

std::unique_ptr<WorldRunner> sim_world();

}  // namespace pdsim::scenarios
