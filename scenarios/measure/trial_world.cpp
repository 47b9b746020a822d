#include "scenarios/measure/trial_world.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/tuning/tuning.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {

std::vector<TrialAlgorithm> trial_algorithms(WorldKind world, std::optional<CollectiveKind> kind,
                                             const std::string& name) {
  std::vector<TrialAlgorithm> chosen;
  for (const CollectiveRow& collective : collective_table) {
    if (!collective.planned || (kind && *kind != collective.kind)) continue;
    const bool is_native = world == WorldKind::real && (name.empty() || name == "native");
    if (is_native) chosen.push_back({collective.kind, "native"});
    if (name == "auto" || tuning_named(name) != nullptr) chosen.push_back({collective.kind, name});
    for (const Algorithm& row : algorithms())
      if (row.kind == collective.kind && (name.empty() || name == row.name))
        chosen.push_back({row.kind, std::string(row.name)});
  }
  return chosen;
}

Result<RunRecord> run_trial(const TrialWorld& world, RankRequest request, const RankProgram& program) {
  RunOptions options = world.options;
  options.request = std::move(request);
  return world.row->make(world.row->name)->run(world.scenario, options, program);
}

std::string explain_failure(const TrialWorld& world, const RunRecord& run) {
  const bool returned = std::all_of(run.ranks.begin(), run.ranks.end(),
                                    [](const RankResult& r) { return r.log.end == RankEnd::returned; });
  if (!run.deadlocked && returned) return {};
  return render_diagnosis(analyse(world.scenario, run, RunWorld(world.row->name)), {});
}

}  // namespace pdsim::scenarios
