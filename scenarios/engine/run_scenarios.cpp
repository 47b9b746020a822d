#include "scenarios/engine/run_scenarios.h"

#include "scenarios/engine/analyse.h"
#include "scenarios/engine/session.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string text_of(const Call& call) {
  return fmt::format("{} {} {}", to_string(call.issued), call.name,
                     call.seq >= 0 ? fmt::format("#{} ", call.seq) : std::string());
}

// Where two records part: more help than two different numbers.
std::string first_difference(const RunRecord& a, const RunRecord& b) {
  for (std::size_t r = 0; r < a.ranks.size() && r < b.ranks.size(); ++r) {
    const auto& one = a.ranks[r].log.calls;
    const auto& two = b.ranks[r].log.calls;
    for (std::size_t i = 0; i < std::max(one.size(), two.size()); ++i) {
      const std::string first = i < one.size() ? text_of(one[i]) : "nothing more";
      const std::string second = i < two.size() ? text_of(two[i]) : "nothing more";
      if (first != second) return fmt::format("call {} of rank {}: {} in run 1, {} in run 2", i, r, first, second);
    }
  }
  return fmt::format("the records agree, but the fingerprints are {:016x} and {:016x}", a.fingerprint.value_or(0),
                     b.fingerprint.value_or(0));
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

Result<std::string> difference_in_second_run(const Report& first, const WorldRow& world, const RunOptions& options) {
  if (first.verdict == "skip") return std::string();
  const Scenario& scenario = *first.scenario;
  const Result<RunRecord> second = world.make(world.name)->run(scenario, options, rank_program(scenario, world.kind));
  if (!second.ok()) return second.error();
  if (first.run.fingerprint && first.run.fingerprint == second->fingerprint && first.run.events == second->events)
    return std::string();
  return first_difference(first.run, *second);
}

}  // namespace pdsim::scenarios
