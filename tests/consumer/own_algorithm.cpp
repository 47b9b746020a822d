// An algorithm of your own: one function and one row, without a change to pdsim. It is proven for up to 64 ranks, then run in a
// simulated world. A call would prove it for its group anyway: an algorithm with a mistake is refused, and its error names the mistake.
#include "core/collectives/proof/plan_proof.h"
#include "core/group/init_process_group.h"
#include "sim/run.h"

#include <array>
#include <iostream>
#include <vector>

// Everybody sends everything to everybody and adds it up in rank order: one round, and every rank gets the same bits.
pdsim::Plan everybody(pdsim::PlanArgs a) {
  const auto slot = [&a](int i) { return pdsim::Slice{i * a.count, a.count, pdsim::BufferId::scratch}; };
  co_yield pdsim::round(copy(slot(a.rank), {0, a.count, pdsim::BufferId::input}));
  std::vector<pdsim::Step> steps;
  for (int i = 1; i < a.size; ++i) {
    steps.push_back(pdsim::send((a.rank + i) % a.size, slot(a.rank)));
    steps.push_back(pdsim::receive((a.rank + a.size - i) % a.size, slot((a.rank + a.size - i) % a.size)));
  }
  co_yield std::span<const pdsim::Step>(steps);
  steps.assign(1, copy(a.whole(), slot(0)));
  for (int i = 1; i < a.size; ++i) steps.push_back(reduce_into(a.whole(), slot(i)));
  co_yield std::span<const pdsim::Step>(steps);
}

// Its row: what it is, how much room it takes, and what it costs: rounds, messages, elements of the busiest rank.
const pdsim::Algorithm row{pdsim::CollectiveKind::all_reduce,
                           "everybody",
                           everybody,
                           [](const pdsim::PlanArgs& a) { return a.size * a.count; },
                           [](const pdsim::PlanArgs& a) {
                             return pdsim::PlanCost{a.size > 1 ? 1 : 0, a.size * (a.size - 1), (a.size - 1) * a.count};
                           },
                           "(p-1)(alpha + n beta) at every port + (p-1) n gamma"};

pdsim::ProgramResult sum_over_all(pdsim::RankEnvironment& env) {
  auto group = pdsim::init_process_group(env);
  if (!group.ok()) return {group.error()};
  std::array<float, 8> data;
  data.fill(static_cast<float>(env.rank + 1));
  pdsim::CallOptions options;
  options.own_algorithm = &row;
  const pdsim::Status summed = wait(group->all_reduce(pdsim::view_of(data), pdsim::ReduceOp::sum, options));
  return {summed, {{"sum", {data[0]}}}};
}

int main() {
  const pdsim::PlanProof proof = pdsim::prove(row);
  std::cout << proof.cases << " cases: " << (proof.ok ? "proven" : proof.problem + "\n" + proof.drawn) << std::endl;
  pdsim::sim::WorldSpec world;
  world.ranks_per_node = 4;
  const auto run = pdsim::sim::run(world, {}, sum_over_all);
  if (!run.ok()) return 1;
  const pdsim::RankResult& last = run->ranks[3];
  if (last.log.end != pdsim::RankEnd::returned) {
    std::cout << "rank 3: " << last.log.error.message << std::endl;
    return 1;
  }
  const double sum = last.values.at("sum").at(0);
  std::cout << "1 + 2 + 3 + 4 = " << sum << " on rank 3" << std::endl;
  return proof.ok && sum == 10 ? 0 : 1;
}
