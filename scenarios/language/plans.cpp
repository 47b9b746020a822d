#include "scenarios/language/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace pdsim::scenarios::language {
namespace {

constexpr int most_ranks_proven = 64;

void load_from(const std::vector<Operation>& program, Scenario& into) {
  for (const Operation& op : program) {
    load_from(op.body, into);
    const auto* call = op.if_is<CollectiveOptions>();
    if (call == nullptr || !std::string_view(call->algorithm).ends_with(".plan") ||
        into.plans.count(call->algorithm) > 0)
      continue;
    const std::filesystem::path file = std::filesystem::path(into.file).parent_path() / call->algorithm;
    into.plans[call->algorithm] = std::make_shared<const LoadedPlan>(load_plan(file.string(), PlanFiles::texts));
  }
}

}  // namespace

void load_plans(Scenario& scenario) {
  const std::vector<Operation> program = scenario.program;
  load_from(program, scenario);
}

std::string plan_problem(const LoadedPlan& loaded, CollectiveKind kind, int ranks) {
  if (loaded.plan == nullptr) return loaded.sentence;
  const Algorithm& own = loaded.plan->algorithm();
  if (own.kind != kind) return fmt::format("{} is a plan of {}", loaded.plan->file(), name_of(own.kind));
  ProofOptions options;
  options.min_size = options.max_size = std::min(ranks, most_ranks_proven);
  options.ranks_per_node = 1;
  options.every_root = false;
  const PlanProof proof = prove(own, options);
  if (!proof.ok)
    return fmt::format("{}: {}",
                       own.rounds->place({proof.rank, proof.at.size, proof.at.count, proof.at.root}, proof.round),
                       proof.problem);
  return proof.cases > 0 ? ""
                         : fmt::format("{}: its `needs` excludes every call on {} ranks", loaded.plan->file(), ranks);
}

}  // namespace pdsim::scenarios::language
