// The property that holds between worlds: a real one gives, bit for bit, what the simulated one gives.
#pragma once

#include "tests/property/properties.h"

namespace pdsim::property {

// Checks it of every algorithm, in cases among at most four ranks of one node, or of the one case of PDSIM_CASE. Counts the cases that
// ran; stops at the first that fails.
Outcome check_all_plans(CollectiveWorld& world, int cases_each);

}  // namespace pdsim::property
