#include "scenarios/language/plans.h"

#include "scenarios/text/shell_word.h"

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
    const std::string file = plan_path(into, call->algorithm);
    into.plans[call->algorithm] = std::make_shared<const LoadedPlan>(load_plan(file, PlanFiles::texts));
  }
}

}  // namespace

void load_plans(Scenario& scenario) {
  const std::vector<Operation> program = scenario.program;
  load_from(program, scenario);
}

std::string plan_path(const Scenario& scenario, const std::string& algorithm) {
  return (std::filesystem::path(scenario.file).parent_path() / algorithm).string();
}

PlanFault plan_fault(const LoadedPlan& loaded, const std::string& file, CollectiveKind kind, int ranks) {
  const std::string prove_it = fmt::format("pdsim prove {}", shell_word(file));
  if (loaded.plan == nullptr)
    return loaded.diagnostic.mark.line > 0
               ? PlanFault{loaded.sentence, fmt::format("`{}` checks it alone", prove_it),
                           OtherPlace{file, loaded.text, loaded.diagnostic.mark, loaded.diagnostic.label}}
               : PlanFault{loaded.sentence, "give the path of a plan, from the scenario's own folder"};
  const Algorithm& own = loaded.plan->algorithm();
  if (own.kind != kind)
    return {fmt::format("{} is a plan of {}", file, name_of(own.kind)),
            fmt::format("name a plan that begins with `plan {}`", name_of(kind))};
  ProofOptions options;
  options.min_size = options.max_size = std::min(ranks, most_ranks_proven);
  options.ranks_per_node = 1;
  options.every_root = false;
  const PlanProof proof = prove(own, options);
  if (!proof.ok) {
    const PlanFlaw flaw = loaded.plan->flaw(proof);
    return {fmt::format("{}: {}", own.rounds->place({proof.rank, proof.at.size, proof.at.count, proof.at.root}, proof.round),
                        proof.problem),
            fmt::format("`{}` shows the round", loaded.plan->replay(proof)),
            OtherPlace{flaw.file, flaw.text, flaw.diagnostic.mark, flaw.diagnostic.label}};
  }
  if (proof.cases > 0) return {};
  return {fmt::format("{}: its `needs` excludes every call on {} rank{}", file, ranks, ranks == 1 ? "" : "s"),
          "choose another number of ranks, or another plan"};
}

}  // namespace pdsim::scenarios::language
