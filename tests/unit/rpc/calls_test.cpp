// Calls between workers of a simulated world: what a caller learns, on how many threads they run, and what they wait for.

#include "tests/unit/rpc/rpc_world.h"

#include <array>
#include <set>

namespace pdsim {
namespace {

using namespace literals;

RpcFunctions functions_of(RankEnvironment& env) {
  RpcFunctions functions;
  functions.add("half(x)", [](double x) { return x / 2; });
  functions.add("greet(name, times)",
                [](const std::string& name, std::int64_t times) { return name + std::to_string(times); });
  functions.add("work(us)", [&env](std::int64_t us) { env.runtime.compute(Time{us * 1'000'000}); });
  functions.add("relay(to, us)",
                [](Rpc& rpc, const std::string& to, std::int64_t us) { return rpc.rpc_sync(to, "work", {us}); });
  return functions;
}

TEST(RpcCalls, WrongArgumentsAndUnknownFunctionsAreErrorsOfTheCalleeAtTheCaller) {
  std::vector<std::string> errors;
  const RunRecord run = run_rpc(world_of(2), functions_of, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank == 1) return {};
    errors.push_back(rpc.rpc_sync("worker1", "half", {"one"}).error().message);
    errors.push_back(rpc.rpc_sync("worker1", "greet", {"you", 2.5}).error().message);
    errors.push_back(rpc.rpc_sync("worker1", "greet").error().message);
    errors.push_back(rpc.rpc_sync("worker1", "half", {1, 2, 3}).error().message);
    errors.push_back(rpc.rpc_sync("worker1", "great", {"you", 2}).error().message);
    EXPECT_EQ(rpc.rpc_sync("worker1", "half", {3})->as<double>(), 1.5);  // whole numbers are numbers
    return {};
  });
  EXPECT_TRUE(all_returned(run));
  const std::string on = "On WorkerInfo(id=1, name=worker1):\n";
  EXPECT_EQ(
      errors,
      (std::vector<std::string>{
          "TypeError: " + on + "TypeError(\"half() argument 'x' must be float, not str\")",
          "TypeError: " + on + "TypeError(\"greet() argument 'times' must be int, not float\")",
          "TypeError: " + on + "TypeError(\"greet() missing 2 required positional arguments: 'name' and 'times'\")",
          "TypeError: " + on + "TypeError('half() takes 1 positional argument but 3 were given')",
          "AttributeError: " + on + "AttributeError(\"worker1 has no function 'great'; did you mean 'greet'?\")"}));
}

// Four calls of 10 ms at once.
Time time_of_four(int threads) {
  const RunRecord run = run_rpc(world_of(2), functions_of,
                                [](Rpc& rpc, RankEnvironment& env) -> Status {
                                  if (env.rank == 1) return {};
                                  std::vector<RpcFuture> calls;
                                  for (int i = 0; i < 4; ++i)
                                    calls.push_back(rpc.rpc_async("worker1", "work", {10'000}));
                                  return wait_all(calls).status();
                                },
                                {threads, 60_s});
  EXPECT_TRUE(all_returned(run));
  return run.elapsed;
}

TEST(RpcCalls, RunOnAsManyThreadsAsTheServerHas) {
  EXPECT_LT(time_of_four(4), 11_ms);
  EXPECT_GT(time_of_four(2), 20_ms);
  EXPECT_LT(time_of_four(2), 21_ms);
  EXPECT_GT(time_of_four(1), 40_ms);
}

TEST(RpcCalls, OfHandlersThatWaitForEachOtherDeadlockWhereThreadsAreTooFew) {
  const auto crosswise = [](int threads) {
    return run_rpc(world_of(2), functions_of,
                   [](Rpc& rpc, RankEnvironment& env) -> Status {
                     return rpc.rpc_sync(worker_name(1 - env.rank), "relay", {worker_name(env.rank), 5}).status();
                   },
                   {threads, 60_s});
  };
  EXPECT_TRUE(all_returned(crosswise(2)));
  EXPECT_FALSE(crosswise(2).deadlocked);
  const RunRecord stuck = crosswise(1);
  EXPECT_TRUE(stuck.deadlocked);
  EXPECT_LT(stuck.deadlock_at, 1_ms);  // found as such, not by a limit
  for (const RankResult& rank : stuck.ranks) EXPECT_EQ(rank.log.end, RankEnd::running);
}

TEST(RpcCalls, GiveTheSameUnderEveryOrderOfEvents) {
  std::set<std::vector<std::string>> seen;
  for (const char* strategy : {"fifo", "random"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      sim::WorldSpec spec = world_of(3);
      spec.seed = seed;
      std::vector<std::string> answers(3);
      const RunRecord run = run_rpc(
          spec, functions_of,
          [&](Rpc& rpc, RankEnvironment& env) -> Status {
            const Rank next = (env.rank + 1) % 3;
            std::vector<RpcFuture> calls{rpc.rpc_async(next, "half", {env.rank}), rpc.rpc_async(next, "work", {3}),
                                         rpc.rpc_async(next, "relay", {worker_name(env.rank), 2})};
            const auto all = wait_all(calls);
            if (!all.ok()) return all.error();
            answers[static_cast<std::size_t>(env.rank)] = std::to_string((*all)[0].as<double>());
            return {};
          },
          {}, {.strategy = strategy});
      EXPECT_TRUE(all_returned(run));
      seen.insert(answers);
    }
  EXPECT_EQ(seen.size(), 1U);
}

TEST(RpcCalls, CarryTensorsOfAnySizeWithTheirTime) {
  Time small{}, large{};
  for (Time* time : {&small, &large}) {
    sim::WorldSpec spec = world_of(2);
    const RunRecord run = run_rpc(
        spec,
        [](RankEnvironment&) {
          RpcFunctions functions;
          functions.add("numel(t)", [](const nn::Tensor& t) { return t.numel(); });
          return functions;
        },
        [&](Rpc& rpc, RankEnvironment& env) -> Status {
          if (env.rank == 1) return {};
          const std::int64_t n = time == &small ? 10 : 10'000'000;
          const auto numel = rpc.rpc_sync("worker1", "numel", {nn::Tensor::meta({n}, DType::f32)});
          if (!numel.ok()) return numel.error();
          EXPECT_EQ(numel->as<std::int64_t>(), n);
          return {};
        });
    EXPECT_TRUE(all_returned(run));
    *time = run.elapsed;
  }
  EXPECT_GT(large - small, transfer_time(Bytes{39'000'000}, world_of(2).intra.bandwidth));
}

}  // namespace
}  // namespace pdsim
