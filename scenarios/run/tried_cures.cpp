#include "scenarios/run/tried_cures.h"

#include <string>

namespace pdsim::scenarios {
namespace {

constexpr std::int64_t most_events = 2'000'000;  // of the run that is repeated
constexpr std::size_t most_cures = 6;

Tried tried(const Scenario& broken, const Cure& cure, const WorldRow& world, const RunOptions& options) {
  Scenario changed = broken;
  cure.change(changed);
  changed.expect = {};
  changed.real.clear();
  RunOptions quietly = options;
  quietly.record_messages = quietly.trace = false;
  const Result<Report> report = run_scenario(changed, world, quietly);
  Tried result;
  if (!report.ok()) return {Outcome::error, std::string(name_of(report.error().code)), {}};
  result.outcome = report->outcome;
  if (report->diagnosis() != nullptr) result.diagnosis = report->diagnosis()->id;
  result.elapsed = report->run.elapsed;
  return result;
}

}  // namespace

void try_cures(Report& report, const WorldRow& world, const RunOptions& options) {
  if (world.kind != WorldKind::simulated || report.scenario == nullptr || report.run.events > most_events) return;
  std::size_t runs = 0;
  for (Diagnosis& finding : report.findings)
    for (Cure& cure : finding.cures)
      if (cure.change && runs++ < most_cures) cure.tried = tried(*report.scenario, cure, world, options);
}

}  // namespace pdsim::scenarios
