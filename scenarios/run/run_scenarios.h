// Runs variants of scenarios in a world: run, analyse, compare with the expectations.
//
//   skip     a variant that the file skips in this world, or whose faults only the simulated one has: a report with the
//            verdict skip and the reason
//   unchecked  an expectation that is stated for another seed or strategy: the run as it was, with the verdict skip
//   errors   those that the scenario did not cause: unavailable, limit_exceeded, io_error, cancelled, internal
//   cost     memory of one variant's records per report; nothing is printed or written
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/worlds/worlds.h"

namespace pdsim::scenarios {

// `scenario` must outlive the report.
Result<Report> run_scenario(const Scenario& scenario, const WorldRow& world, const RunOptions& options);

}  // namespace pdsim::scenarios
