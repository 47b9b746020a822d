// The diagnosis pipeline: flight records in, a Report out. Makes every decision; the writers only render.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Outcome, blocked ranks, circle, first divergence, errors and the diagnosis. `scenario` must outlive the report.
Report analyse(const Scenario& scenario, RunRecord run, RunWorld world = {});

}  // namespace pdsim::scenarios
