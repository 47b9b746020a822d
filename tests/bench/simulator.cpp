// What the simulated world costs: switches between fibers, messages, and memory of a rank.
#include "core/group/process_group.h"
#include "sim/run.h"
#include "sim/scheduler.h"

#include <benchmark/benchmark.h>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace pdsim::sim {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

// Two fibers that wake each other in turn.
void fiber_switches(benchmark::State& state) {
  constexpr int rounds = 10'000;
  for (auto _ : state) {
    auto chooser = Chooser::make("fifo", 0);
    Scheduler scheduler(*chooser, stack_bytes);
    for (Rank r = 0; r < 2; ++r)
      scheduler.spawn(r, [&scheduler, r] {
        for (int i = 0; i < rounds; ++i) {
          scheduler.wake(1 - r);
          scheduler.park();
        }
        scheduler.wake(1 - r);
      });
    scheduler.run([] {});
  }
  state.counters["switches/s"] =
      benchmark::Counter(2.0 * rounds * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(fiber_switches)->UseRealTime()->Unit(benchmark::kMillisecond);

RankProgram in_group(std::function<Status(ProcessGroup&)> body) {
  return [body = std::move(body)](RankEnvironment& env) -> ProgramResult {
    auto store = env.rendezvous.env(Time::max());
    if (!store.ok()) return {store.error(), {}};
    auto member = env.backend.join(**store, {"world", env.rank, env.world_size, Time::max()});
    if (!member.ok()) return {member.error(), {}};
    ProcessGroup group("world", RankList::of_world(env.world_size), env.rank, Time::max(), std::move(*member),
                       env.recorder);
    return {body(group), {}};
  };
}

WorldSpec world(int ranks) {
  WorldSpec spec;
  spec.ranks_per_node = ranks;
  spec.backend = "nccl";
  return spec;
}

// Ring all-reduces of sizes only, after a barrier: 2 p (p - 1) messages each.
void messages(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  const WorldSpec spec = world(ranks);
  const int rounds = std::max(1, 4096 / (ranks * ranks / 64 + 1));
  std::int64_t sent = 0;
  for (auto _ : state) {
    const auto run = sim::run(spec, {}, in_group([rounds](ProcessGroup& g) -> Status {
                                for (int i = 0; i < rounds; ++i)
                                  PDSIM_TRY(wait(g.all_reduce({nullptr, DType::f32, 1 << 20}, ReduceOp::sum)));
                                return Status{};
                              }));
    sent += std::int64_t{2} * ranks * (ranks - 1) * rounds;
    if (!run.ok() || run->deadlocked) state.SkipWithError("the run did not finish");
  }
  state.counters["messages/s"] = benchmark::Counter(static_cast<double>(sent), benchmark::Counter::kIsRate);
}
BENCHMARK(messages)->Arg(8)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096)->MeasureProcessCPUTime()->Unit(
    benchmark::kMillisecond);

std::int64_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  status >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// Resident memory that the ranks of a group hold while all of them are in a barrier.
void memory_of_a_rank(benchmark::State& state) {
  const int ranks = static_cast<int>(state.range(0));
  double bytes = 0;
  for (auto _ : state) {
    const std::int64_t before = resident_bytes();
    std::int64_t within = before;
    const auto run = sim::run(world(ranks), {}, in_group([&within](ProcessGroup& g) -> Status {
                                PDSIM_TRY(wait(g.barrier()));
                                if (g.rank() == 0) within = resident_bytes();
                                return wait(g.barrier());
                              }));
    if (!run.ok()) state.SkipWithError("the run was refused");
    bytes = static_cast<double>(within - before) / ranks;
  }
  state.counters["bytes/rank"] = bytes;
}
// Once each: memory that an earlier iteration gave back is not taken again.
BENCHMARK(memory_of_a_rank)->Arg(64)->Arg(1024)->Arg(4096)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pdsim::sim
