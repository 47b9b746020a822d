#include "core/collectives/proof/plan_proof.h"

#include "core/collectives/collective_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pdsim {
namespace {

// Where one vector is cut into chunks, counts around the number of ranks differ; parts of a rank are never cut.
std::vector<std::int64_t> counts_for(CollectiveKind kind, int p) {
  const CollectiveRow& r = row(kind);
  std::vector<std::int64_t> counts{0, 1, 3};
  if (!r.has_input) counts = {0};
  if (r.has_input && !r.in_parts)
    counts = p <= 17 ? std::vector<std::int64_t>{0, 1, p - 1, p, p + 3} : std::vector<std::int64_t>{0, p - 1, p + 3};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<Rank> roots_for(CollectiveKind kind, int p, bool every) {
  std::vector<Rank> roots{0};
  if (!row(kind).rooted) return roots;
  for (Rank r = 1; r < p; ++r)
    if (every || r == p / 2 || r == p - 1) roots.push_back(r);
  return roots;
}

// Few plans know of nodes; for the others one placement stands for all. Only a closed form says which they are.
std::vector<int> placements_for(const Algorithm& a, int p, int only) {
  if (only > 0) return {only};
  const PlanCost flat = a.cost(p, 2 * p), in_pairs = a.cost(p, 2 * p, 2);
  if (a.closed_form != nullptr && flat.rounds == in_pairs.rounds && flat.messages == in_pairs.messages) return {1};
  std::vector<int> placements{1};
  for (const int local : {2, 3, 4, 8, p - 1, p})
    if (local > 1 && local <= p && std::find(placements.begin(), placements.end(), local) == placements.end())
      placements.push_back(local);
  return placements;
}

std::string cost_problem(const Algorithm& a, const PlanCase& at, const PlanCost& counted) {
  const auto differ = [](std::string_view what, std::int64_t have, std::int64_t want) {
    return fmt::format("has {} {}, and its closed form says {}", have, what, want);
  };
  if (a.closed_form != nullptr) {
    const PlanCost want = a.cost(at.size, at.count, at.ranks_per_node);
    if (counted.rounds != want.rounds) return differ("rounds", counted.rounds, want.rounds);
    if (counted.messages != want.messages) return differ("messages", counted.messages, want.messages);
    if (counted.elements_sent != want.elements_sent)
      return differ("elements sent by the busiest rank", counted.elements_sent, want.elements_sent);
  }
  const std::int64_t least = least_elements_sent(a.kind, at.size, at.count);
  if (counted.elements_sent >= least) return {};
  return fmt::format("sends {} elements from the busiest rank, and no {} can send less than {}",
                     counted.elements_sent, name_of(a.kind), least);
}

// A flaw in a plan matters more than a flaw in its cost, so the latter is reported only if all cases of a size are sound.
struct CostFlaw {
  PlanCase at;
  std::string problem;
};

// False: the case fails, and `proof` tells how.
bool holds(const Algorithm& a, const PlanSource& plans, const PlanCase& at, PlanProof& proof, CostFlaw& cost) {
  if (a.rounds != nullptr && !a.rounds->is_for({0, at.size, at.count, at.root, nullptr, at.ranks_per_node})) return true;
  ++proof.cases;
  PlanVerdict verdict = check_plan(a, at, plans);
  proof.at = at;
  proof.ok = verdict.ok;
  proof.problem = std::move(verdict.problem);
  proof.drawn = std::move(verdict.drawn);
  proof.rank = verdict.rank;
  proof.round = verdict.round;
  if (!proof.ok || !cost.problem.empty()) return proof.ok;
  if (const std::string problem = cost_problem(a, at, verdict.counted); !problem.empty())
    cost = {at,
            fmt::format("{} and {} element{} {}", name_with_ranks(a, at.size), at.count, at.count == 1 ? "" : "s", problem)};
  return true;
}

bool holds_for_size(const Algorithm& a, const PlanSource& plans, int p, const ProofOptions& options, PlanProof& proof) {
  std::vector<std::int64_t> counts = counts_for(a.kind, p);
  if (options.count >= 0) counts.push_back(options.count);
  CostFlaw cost;
  for (const std::int64_t n : counts)
    for (const Rank root : roots_for(a.kind, p, options.every_root && (p <= 9 || n == counts.back())))
      for (const int local : placements_for(a, p, options.ranks_per_node)) {
        if (!holds(a, plans, {p, n, root, local, false}, proof, cost)) return false;
        const bool once = n == counts.back() && root == p - 1 - (row(a.kind).rooted ? 0 : p - 1);
        if (once && in_place_form(a.kind) != InPlace::none && !holds(a, plans, {p, n, root, local, true}, proof, cost))
          return false;
      }
  if (cost.problem.empty()) return true;
  proof.ok = false;
  proof.at = cost.at;
  proof.problem = cost.problem;
  return false;
}

}  // namespace

PlanProof prove(const Algorithm& algorithm, const PlanSource& plans, const ProofOptions& options) {
  PlanProof proof;
  if (row(algorithm.kind).point_to_point) return proof;
  for (int p = options.min_size; p <= options.max_size; ++p)
    if (!holds_for_size(algorithm, plans, p, options, proof)) break;
  return proof;
}

PlanProof prove(const Algorithm& algorithm, const ProofOptions& options) {
  return prove(algorithm, [&algorithm](const PlanArgs& args) { return algorithm.begin(args); }, options);
}

}  // namespace pdsim
