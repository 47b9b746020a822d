// The references of `equals`: the program's training by one process, run by the ordinary interpreter in a world of one.
#pragma once

#include "core/group/rank_program.h"
#include "scenarios/language/scenario.h"

namespace pdsim::scenarios {

// Adds to rank 0 of the run the values "<reference>/<tensor>" with which the scenario's expectations compare. A reference
// that ends with an error has none.
void add_references(const Scenario& scenario, RunRecord& run);

}  // namespace pdsim::scenarios
