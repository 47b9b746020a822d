// Every law of the collectives, of what a library itself has.
#pragma once

#include "tests/property/properties.h"

namespace pdsim::property {

// At most four ranks of one node, and numbers whose sums do not round: the order is the library's. Counts the cases that ran; stops at
// the first that fails.
Outcome check_native(CollectiveWorld& world, int cases_each);

}  // namespace pdsim::property
