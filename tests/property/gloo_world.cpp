#include "tests/property/gloo_world.h"

#include "backends/availability.h"
#include "backends/gloo/gloo_backend.h"
#include "backends/local/real_runtime.h"
#include "tests/unit/backends/shared_map_store.h"

#include <csignal>
#include <latch>
#include <thread>

namespace pdsim::property {
namespace {

using namespace literals;

RankOutcome run_rank(testing::SharedMap& map, std::latch& joined, Rank rank, std::span<const CollectiveCase> steps,
                     const RankBuffers& inputs) {
  const int size = steps.front().ranks;
  RankOutcome outcome;
  RealRuntime runtime;
  auto backend = make_gloo_backend(runtime);
  if (!backend.ok()) {
    joined.arrive_and_wait();
    return outcome.status = backend.error(), outcome;
  }
  testing::SharedMapStore store(map);
  auto member = (*backend)->join(store, {"world", rank, size, 20_s});
  joined.arrive_and_wait();  // a rank that leaves while others still connect resets their connections
  if (!member.ok()) return outcome.status = member.error(), outcome;
  FlightRecorder recorder(rank, runtime);
  ProcessGroup group("world", RankList::of_world(size), rank, 20_s, std::move(*member), recorder);
  return run_steps(group, steps, inputs);
}

}  // namespace

std::string GlooWorld::refuses(const CollectiveCase& c) const {
  if (!gloo_availability().yes) return gloo_availability().reason;
  if (c.nodes != 1 || c.ranks > 4) return "one node, and a few threads of it";
  return c.victim == no_rank ? "" : "threads are not killed one by one";
}

WorldOutcome GlooWorld::run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) {
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to connections whose other end may have left
  WorldOutcome outcome;
  outcome.ranks.resize(inputs.size());
  testing::SharedMap map;
  std::latch joined(static_cast<std::ptrdiff_t>(inputs.size()));
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < inputs.size(); ++r)
    threads.emplace_back([&, r] { outcome.ranks[r] = run_rank(map, joined, static_cast<Rank>(r), steps, inputs); });
  for (std::thread& t : threads) t.join();
  return outcome;
}

}  // namespace pdsim::property
