// A program that only has an installed pdsim: sums over four simulated ranks, after proving that the algorithm is right.
#include "core/collectives/plan_checker.h"
#include "core/group/process_group.h"
#include "sim/run.h"

#include <array>
#include <iostream>

pdsim::ProgramResult sum_over_all(pdsim::RankEnvironment& env) {
  auto store = env.rendezvous.env(env.backend.default_timeout());
  if (!store.ok()) return {store.error(), {}};
  auto member = env.backend.join(**store, {"world", env.rank, env.world_size, env.backend.default_timeout()});
  if (!member.ok()) return {member.error(), {}};
  pdsim::ProcessGroup group("world", {0, 1, 2, 3}, env.rank, env.backend.default_timeout(), std::move(*member),
                            env.recorder);
  std::array<float, 8> data;
  data.fill(static_cast<float>(env.rank + 1));
  const pdsim::MutableView view{reinterpret_cast<std::byte*>(data.data()), pdsim::DType::f32, 8};
  const pdsim::Status summed = wait(group.all_reduce(view, pdsim::ReduceOp::sum));
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
