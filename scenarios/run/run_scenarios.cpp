#include "scenarios/run/run_scenarios.h"

#include "scenarios/program/session.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "scenarios/run/references.h"

#include <fmt/format.h>

namespace pdsim::scenarios {
namespace {

Report skipped(const Scenario& scenario, const WorldRow& world, std::string why) {
  Report report;
  report.scenario = &scenario;
  report.world = RunWorld(world.name);
  report.verdict = Verdict::skip;
  report.skip_reason = std::move(why);
  return report;
}

// Why the expectation says nothing about this run; empty: it does.
std::string not_checked(const Scenario& scenario, const WorldRow& world, const RunOptions& options) {
  const StatedFor stated = expectation_for(scenario, RunWorld(world.name)).stated_for;
  if (stated.seed && scenario.seed != scenario.stated_seed)
    return fmt::format("not checked with seed {}: stated only for seed {}", scenario.seed, scenario.stated_seed);
  if (stated.order && world.kind == WorldKind::simulated && options.strategy != "fifo")
    return fmt::format("not checked with strategy {}: stated only for fifo", options.strategy);
  return {};
}

}  // namespace

Result<Report> run_scenario(const Scenario& scenario, const WorldRow& world, const RunOptions& options) {
  const auto real = scenario.real.find(std::string(world.name));
  if (real != scenario.real.end() && real->second.skip) return skipped(scenario, world, real->second.why);
  Result<RunRecord> run = world.make(world.name)->run(scenario, options, rank_program(scenario, world.kind));
  if (!run.ok() && run.error().code == Code::unsupported) return skipped(scenario, world, run.error().message);
  if (!run.ok()) return run.error();
  Report report = analyse(scenario, std::move(*run), RunWorld(world.name));
  add_references(report);
  check_expectations(report);
  const std::string why = report.verdict == Verdict::skip ? "" : not_checked(scenario, world, options);
  if (why.empty()) return report;
  report.failures.clear();
  report.verdict = Verdict::skip;
  report.skip_reason = fmt::format("{}; {}", outcome_sentence(report), why);
  return report;
}

}  // namespace pdsim::scenarios
