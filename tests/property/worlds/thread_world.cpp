#include "tests/property/worlds/thread_world.h"

namespace pdsim::property {

using namespace literals;

std::string ThreadWorld::refuses(const CollectiveCase& c) const {
  if (c.nodes != 1 || c.ranks > 4) return "one node, and a few threads of it";
  return c.victim == no_rank ? "" : "threads are not killed one by one";
}

WorldOutcome ThreadWorld::run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) {
  WorldOutcome outcome;
  outcome.ranks.resize(inputs.size());
  const int size = steps.front().ranks;
  testing::with_ranks(size, 20_s, make_, [&](testing::RankUnderTest& me) {
    FlightRecorder recorder(me.rank, me.runtime);
    ProcessGroup group("world", RankList::of_world(size), me.rank, 20_s, std::move(me.communicator), recorder);
    outcome.ranks[static_cast<std::size_t>(me.rank)] = run_steps(group, steps, inputs);
  });
  return outcome;
}

}  // namespace pdsim::property
