// The diagnosis pipeline: flight records in, a Report out. Decides everything that the writers then only render.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Outcome, blocked ranks, circle, first divergence, errors and the diagnosis. `scenario` must outlive the report.
Report analyse(const Scenario& scenario, RunRecord run, RunWorld world = {});

// Compares the report with what the scenario expects of this world, fills `values` and `failures` and sets the verdict.
// Values that equal a reference are looked up as "<reference>/<tensor>" of rank 0: single_process, one_batch.
void check_expectations(Report& report);

// What the scenario expects in this world: the variant's, or what `real` says for a real one.
const Expect& expectation_for(const Scenario& scenario, const RunWorld& world);

}  // namespace pdsim::scenarios
