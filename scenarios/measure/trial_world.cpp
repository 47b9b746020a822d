#include "scenarios/measure/trial_world.h"

#include "core/collectives/algorithms.h"
#include "core/collectives/tuning/tuning.h"
#include "core/group/raw_caller.h"
#include "core/semantics/library.h"
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

std::vector<std::string> algorithms_taken(const TrialWorld& world, const TimingRequest& request) {
  const sim::WorldSpec& spec = world.scenario.world.spec;
  const bool simulated = world.row->kind == WorldKind::simulated;
  std::string_view name = request.algorithm;
  if (request.own != nullptr || (name != "auto" && tuning_named(name) == nullptr)) return {};
  if (name == "auto" && !simulated && !raw_functions(world.row->name, request.kind).empty())
    return std::vector<std::string>(request.counts.size(), "native");
  if (const LibrarySemantics* library = library_named(spec.backend); name == "auto" && simulated && library != nullptr)
    name = library->algorithm;
  const Tuning* tuning = tuning_named(name);
  std::vector<std::string> chosen;
  for (const std::int64_t count : request.counts) {
    const TuningCase at{request.kind, spec.ranks(), count, static_cast<std::int64_t>(size_of(request.dtype)),
                        simulated && spec.two_level ? spec.ranks_per_node : 1};
    const auto row = find_algorithm(request.kind, tuning == nullptr ? name : chosen_by(*tuning, at));
    if (!row.ok()) return {};
    chosen.emplace_back((*row)->name);
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
