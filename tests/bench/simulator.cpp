// What the simulated world costs: switches between fibers, messages, and memory of a rank.
#include "core/group/init_process_group.h"
#include "sim/kernel/scheduler.h"
#include "sim/run.h"

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
    auto group = init_process_group(env, Time::max());
    if (!group.ok()) return {group.error(), {}};
    return {body(*group), {}};
  };
}

WorldSpec world(int ranks) {
  WorldSpec spec;
  spec.ranks_per_node = ranks;
  spec.backend = "nccl";
  return spec;
}

// What ring all-reduces of 64 KiB a rank ask of the simulator; messages/s is per second of processor time.
struct Traffic {
  Engine engine = Engine::exchange;
  bool data = false;
  bool jitter = false;  // and a fault that watches every message
};

void ring(benchmark::State& state, const Traffic& traffic) {
  const int ranks = static_cast<int>(state.range(0));
  constexpr std::int64_t count = 16384;
  WorldSpec spec = world(ranks);
  if (traffic.engine == Engine::closed_form) spec.sharing = Sharing::none;  // else the exchange has the calls
  if (traffic.jitter) {
    spec.intra.jitter = spec.inter.jitter = Time{2'000'000};
    FaultSpec late;
    late.kind = FaultKind::delay;
    late.by = Time{1'000};
    late.match.from = *IntSet::parse("0");
    late.match.to = *IntSet::parse("1");
    spec.faults.push_back(late);
  }
  const int rounds = std::max(1, 1'500'000 / (2 * ranks * (ranks - 1)));
  RunOptions options;
  options.engine = traffic.engine;
  std::int64_t sent = 0;
  for (auto _ : state) {
    const auto run = sim::run(spec, options, in_group([rounds, &traffic](ProcessGroup& g) -> Status {
                                std::vector<float> values(traffic.data ? count : 0, 1.0F);
                                auto* data = traffic.data ? reinterpret_cast<std::byte*>(values.data()) : nullptr;
                                for (int i = 0; i < rounds; ++i)
                                  PDSIM_TRY(wait(g.all_reduce({data, DType::f32, count}, ReduceOp::sum)));
                                return Status{};
                              }));
    if (!run.ok() || run->deadlocked) return state.SkipWithError("the run did not finish");
    sent += run->message_count;
  }
  state.counters["messages/s"] = benchmark::Counter(static_cast<double>(sent), benchmark::Counter::kIsRate);
}

void ring_by(const char* name, const Traffic& traffic) {
  benchmark::RegisterBenchmark(name, [traffic](benchmark::State& state) { ring(state, traffic); })
      ->Arg(64)
      ->Arg(256)
      ->Arg(1024)
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
}

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

void register_rings() {
  ring_by("ring/exchange, data", {Engine::exchange, true, false});
  ring_by("ring/exchange, data, jitter, a fault", {Engine::exchange, true, true});
  ring_by("ring/exchange", {Engine::exchange, false, false});
  ring_by("ring/exchange, jitter, a fault", {Engine::exchange, false, true});
  ring_by("ring/in flight, data", {Engine::in_flight, true, false});
  ring_by("ring/in flight, data, jitter, a fault", {Engine::in_flight, true, true});
  ring_by("ring/in flight", {Engine::in_flight, false, false});
  ring_by("ring/in flight, jitter, a fault", {Engine::in_flight, false, true});
  ring_by("ring/closed form", {Engine::closed_form, false, false});
}

}  // namespace
}  // namespace pdsim::sim

int main(int argc, char** argv) {
  pdsim::sim::register_rings();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
