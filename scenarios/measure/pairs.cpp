#include "scenarios/measure/pairs.h"

#include "scenarios/measure/bench.h"

namespace pdsim::scenarios {

Result<TimedPairs> time_pairs(const TrialWorld& world, const PairRequest& request) {
  const RankProgram program = pair_program(request);
  const Result<RunRecord> run = run_trial(world, request, program);
  if (!run.ok()) return run.error();
  return TimedPairs{pair_times(request, run->ranks), explain_failure(world, *run)};
}

Result<std::vector<Time>> predict(const LinkFit& link, int ranks, const TimingRequest& request) {
  std::string problem;
  TrialWorld world;
  world.row = world_named("sim", problem);
  sim::WorldSpec& spec = world.scenario.world.spec;
  spec.ranks_per_node = ranks;
  spec.intra.latency = link.latency;
  spec.intra.bandwidth = link.bandwidth;
  spec.inter = spec.intra;
  spec.backend = "ideal";
  spec.buffering = sim::Buffering::zero;
  spec.payload = false;
  TimingRequest simulated = request;
  simulated.moves_data = false;
  simulated.in_place_too = false;
  const Result<Timed> timed = time(world, simulated);
  if (!timed.ok()) return timed.error();
  if (!timed->failure.empty()) return Error{Code::internal, timed->failure, {}};
  std::vector<Time> times;
  for (const TimedRound& round : timed->rounds) times.push_back(round.average);
  return times;
}

}  // namespace pdsim::scenarios
