#include "tests/fuzz/explain.h"

#include "core/base/check.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"

#include <utility>

namespace pdsim::fuzz {

void explain(RunRecord run, const std::string& world) {
  scenarios::Scenario scenario;
  scenario.name = "fuzzed";
  scenario.world.spec.ranks_per_node = static_cast<int>(run.ranks.size());
  const scenarios::Report report = scenarios::analyse(scenario, std::move(run), world.empty() ? scenarios::RunWorld() : scenarios::RunWorld(world));
  PDSIM_CHECK(!scenarios::render_diagnosis(report, {}).empty(), "every run has a report");
}

}  // namespace pdsim::fuzz
