// The diagnosis pipeline: flight records in, a Report out. Decides everything that the writers then only render.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Outcome, blocked ranks, circle, first divergence, errors and the diagnosis. `scenario` must outlive the report.
Report analyse(const Scenario& scenario, RunRecord run, RunWorld world = {});

}  // namespace pdsim::scenarios
