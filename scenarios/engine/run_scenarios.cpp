#include "scenarios/engine/run_scenarios.h"

#include "scenarios/engine/analyse.h"
#include "scenarios/engine/session.h"

namespace pdsim::scenarios {
namespace {

Report skipped(const Scenario& scenario, const WorldRow& world, std::string why) {
  Report report;
  report.scenario = &scenario;
  report.world = world.name;
  report.verdict = "skip";
  report.skip_reason = std::move(why);
  return report;
}

}  // namespace

Result<Report> run_scenario(const Scenario& scenario, const WorldRow& world, const RunOptions& options) {
  const auto real = scenario.real.find(std::string(world.name));
  if (real != scenario.real.end() && real->second.skip) return skipped(scenario, world, real->second.why);
  Result<RunRecord> run = world.make(world.name)->run(scenario, options, rank_program(scenario, world.kind));
  if (!run.ok() && run.error().code == Code::unsupported) return skipped(scenario, world, run.error().message);
  if (!run.ok()) return run.error();
  Report report = analyse(scenario, std::move(*run), std::string(world.name));
  check_expectations(report);
  return report;
}

}  // namespace pdsim::scenarios
