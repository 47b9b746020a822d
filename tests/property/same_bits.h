// The property that holds between worlds: a real one gives, bit for bit, what the simulated one gives.
#pragma once

#include "tests/property/properties.h"

namespace pdsim::property {

// Of cases among at most four ranks of one node.
const Property& same_bits();

}  // namespace pdsim::property
