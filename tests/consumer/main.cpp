// A program that only has an installed pdsim: sums over four simulated ranks, after proving that the algorithm is right.
#include "core/collectives/proof/plan_checker.h"
#include "core/group/init_process_group.h"
#include "sim/run.h"

#include <array>
#include <iostream>

pdsim::ProgramResult sum_over_all(pdsim::RankEnvironment& env) {
  auto group = pdsim::init_process_group(env);
  if (!group.ok()) return {group.error()};
  std::array<float, 8> data;
  data.fill(static_cast<float>(env.rank + 1));
  const pdsim::Status summed = wait(group->all_reduce(pdsim::view_of(data), pdsim::ReduceOp::sum));
  return {summed, {{"sum", {data[0]}}}};
}

int main() {
  const auto ring = pdsim::find_algorithm(pdsim::CollectiveKind::all_reduce, "ring");
  const pdsim::PlanVerdict verdict = pdsim::check_plan(**ring, 4, 8, 0);
  pdsim::sim::WorldSpec world;
  world.ranks_per_node = 4;
  const auto run = pdsim::sim::run(world, {}, sum_over_all);
  const bool right = verdict.ok && run.ok() && run->ranks[3].values.at("sum").at(0) == 10;
  std::cout << verdict.counted.rounds << " rounds, " << (right ? "right" : "wrong") << " in "
            << pdsim::to_string(run->elapsed) << "\n";
  return right ? 0 : 1;
}
