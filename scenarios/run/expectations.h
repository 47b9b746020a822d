// Compares a run with the expectations of its scenario file.
#pragma once

#include "scenarios/diagnosis/report.h"

namespace pdsim::scenarios {

// Returns what the scenario expects in this world: the variant's expectation, or for a real world the one under `real`.
const Expect& expectation_for(const Scenario& scenario, const RunWorld& world);

// Compares the report with what the scenario expects of this world, fills `values` and `failures` and sets the verdict.
// Values that equal a reference are looked up in `references`, which add_references() fills.
void check_expectations(Report& report);

}  // namespace pdsim::scenarios
