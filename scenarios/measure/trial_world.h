// The world of a trial: one of the worlds of worlds.h, as the command line describes it.
#pragma once

#include "core/collectives/collective.h"
#include "core/measure/timing.h"
#include "scenarios/language/scenario.h"
#include "scenarios/plans/own_plan.h"
#include "scenarios/worlds/worlds.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios {

struct TrialWorld {
  const WorldRow* row = nullptr;
  Scenario scenario;  // a name and a world; it has no program
  RunOptions options;
};

struct TrialAlgorithm {
  CollectiveKind kind;
  std::string name;
  std::shared_ptr<const OwnPlan> plan{};  // from a file; `name` is then the file's
};

// The algorithms to try in a world: the plans, and before them, in real worlds, the library's own collective ("native"). Without
// a kind or a name: all; `auto` is the world's own choice. Point-to-point operations and monitored_barrier have no algorithms.
std::vector<TrialAlgorithm> trial_algorithms(WorldKind world, std::optional<CollectiveKind> kind,
                                             const std::string& name);

// By count of the request: the plan or `native` that `auto` and `auto:mpich` select in this world. Empty where the request names
// one.
std::vector<std::string> algorithms_taken(const TrialWorld& world, const TimingRequest& request);

// Sets the algorithm of a request (core/measure), which then refers to the algorithm's plan.
template <class Request>
void request_algorithm(Request& request, const TrialAlgorithm& algorithm) {
  request.kind = algorithm.kind;
  request.algorithm = algorithm.name;
  if (algorithm.plan == nullptr) return;
  request.own = &algorithm.plan->algorithm();
  request.plan_file = algorithm.plan->file();
  request.plan_text = algorithm.plan->text();
}

// Runs the request in the world: `program` is its form for the simulated world.
Result<RunRecord> run_trial(const TrialWorld& world, RankRequest request, const RankProgram& program);

// Why a run did not end well, as a report. Empty when every rank returned.
std::string explain_failure(const TrialWorld& world, const RunRecord& run);

}  // namespace pdsim::scenarios
