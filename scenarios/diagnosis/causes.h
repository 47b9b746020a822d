// What stood before a finding: a silent cause is not lost because a hang came after it, and calls that met others' before a wrapper
// noticed anything come first.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// The finding and what else is true of the run, in the order in which it happened. Where each has a cure of its own, the first has
// them together as well.
std::vector<Diagnosis> in_order(const Report& report, Diagnosis found);

}  // namespace pdsim::scenarios
