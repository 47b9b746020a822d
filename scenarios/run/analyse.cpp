#include "scenarios/run/analyse.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/wait_circle.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/findings.h"
#include "scenarios/diagnosis/outcome.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {
namespace {

// Whether a program that is not a scenario made these calls, and the record says where.
bool has_places_of_script(const Scenario& scenario, const RunRecord& run) {
  const auto has_frames = [](const Call& call) { return !call.site.origin->frames.empty(); };
  return scenario.program.empty() && std::any_of(run.ranks.begin(), run.ranks.end(), [&](const RankResult& rank) {
           return std::any_of(rank.log.calls.begin(), rank.log.calls.end(), has_frames);
         });
}

// A finding that has aligned the calls by their places knows of an earlier divergence than what the library compares.
void find_divergence_of_places(Report& report) {
  const Diagnosis* d = report.diagnosis();
  if (d == nullptr || !d->met) return;
  Divergence found = divergence_of_places(report.run, *d->met);
  if (found.entries.size() < 2 || (report.divergence && report.divergence->at <= found.at)) return;
  report.of_places = std::move(found);
}

}  // namespace

Report analyse(const Scenario& scenario, RunRecord run, RunWorld world) {
  Report report;
  report.scenario = &scenario;
  report.run = std::move(run);
  report.world = std::move(world);
  const auto ranks = static_cast<std::size_t>(scenario.world.spec.ranks());
  if (report.run.ranks.size() == ranks && ranks > 0)
    report.schedule = schedule_of(scenario, report.run.ranks.front().log.launch);
  report.errors = errors_of(report.run);
  report.outcome = outcome_of(report.run, report.errors);
  report.blocked = blocked_ranks(report.run, moment_of(report.run), report.run.deadlocked);
  report.cycle = wait_cycle(report.blocked);
  report.divergence = first_divergence(report.run);
  if (report.world.is_dumps() || has_places_of_script(scenario, report.run)) report.recorded = recorded_difference(report.run);
  find_all(report);
  if (!report.world.is_dumps() && !report.findings.empty()) {
    Diagnosis first = std::move(report.findings.front());
    report.findings = in_order(report, std::move(first));
  }
  find_divergence_of_places(report);
  return report;
}

}  // namespace pdsim::scenarios
