// The references of `equals`: the program's training in one process, run by the ordinary interpreter in a world of one.
#pragma once

#include "scenarios/diagnosis/report.h"

namespace pdsim::scenarios {

// Fills `references` with the values with which the scenario's expectations compare. A reference that ends with an error has
// none.
void add_references(Report& report);

}  // namespace pdsim::scenarios
