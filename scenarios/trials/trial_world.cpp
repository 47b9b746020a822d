#include "scenarios/trials/trial_world.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/tuning.h"
#include "scenarios/engine/analyse.h"
#include "scenarios/engine/text_report.h"

#include <algorithm>

namespace pdsim::scenarios {

std::vector<TrialAlgorithm> trial_algorithms(WorldKind world, std::optional<CollectiveKind> kind,
                                             const std::string& name) {
  std::vector<TrialAlgorithm> chosen;
  for (const CollectiveRow& collective : collective_table) {
    if (collective.point_to_point || (kind && *kind != collective.kind)) continue;
    if (collective.kind == CollectiveKind::monitored_barrier) continue;
    const bool is_native = world == WorldKind::real && (name.empty() || name == "native");
    if (is_native) chosen.push_back({collective.kind, "native"});
    if (name == "auto" || tuning_named(name) != nullptr) chosen.push_back({collective.kind, name});
    for (const Algorithm& row : algorithms())
      if (row.kind == collective.kind && (name.empty() || name == row.name))
        chosen.push_back({row.kind, std::string(row.name)});
  }
  return chosen;
}

std::string explain_failure(const TrialWorld& world, const RunRecord& run) {
  const bool returned = std::all_of(run.ranks.begin(), run.ranks.end(),
                                    [](const RankResult& r) { return r.log.end == RankEnd::returned; });
  if (!run.deadlocked && returned) return {};
  return render_diagnosis(analyse(world.scenario, run, std::string(world.row->name)), {});
}

}  // namespace pdsim::scenarios
