// How workers part, and what those learn whom others leave.

#include "tests/unit/rpc/rpc_world.h"

namespace pdsim {
namespace {

using namespace literals;

struct Kept final : RpcObject {
  explicit Kept(int& alive) : count(alive) { ++count; }
  ~Kept() override { --count; }
  std::string type() const override { return "Kept"; }
  int& count;
};

RpcFunctions functions_of(RankEnvironment& env, int& alive) {
  RpcFunctions functions;
  functions.add("work(s)",
                [&env](std::int64_t s) { env.runtime.sleep_until(env.runtime.now() + Time{s * 1'000'000'000'000}); });
  functions.add("keep()", [&alive] { return std::make_shared<Kept>(alive); });
  functions.add("same(r)", [](const RRef& r) { return r; });
  functions.add("drop(r)", [](const RRef&) {});
  return functions;
}

class RpcShutdown : public ::testing::Test {
 protected:
  RunRecord run(int ranks, const std::function<Status(Rpc&, RankEnvironment&)>& program, RpcOptions options = {},
                sim::WorldSpec spec = {}) {
    spec.ranks_per_node = ranks;
    return run_rpc(
        spec, [this](RankEnvironment& env) { return functions_of(env, alive_); }, program, options);
  }
  int alive_ = 0;
};

TEST_F(RpcShutdown, WaitsForAllAndServesMeanwhile) {
  const RunRecord record = run(3, [](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 2) return {};  // they have come to shutdown() when they are called
    env.runtime.sleep_until(2_s);
    PDSIM_TRY(rpc.rpc_sync("worker0", "work", {1}).status());
    return rpc.rpc_sync("worker1", "work", {1}).status();
  });
  EXPECT_TRUE(all_returned(record));
  for (const RankResult& rank : record.ranks) EXPECT_GT(rank.log.ended, 4_s);
}

TEST_F(RpcShutdown, WithoutAWorkerIsAHangAndWithALimitAnError) {
  std::string leader, follower;
  const auto without_worker2 = [&](Time limit) {
    return run(3, [&, limit](Rpc& rpc, RankEnvironment& env) -> Status {
      if (env.rank == 2) env.runtime.sleep_until(60_s);
      if (env.rank == 2 && limit.ps == 0) (void)env.runtime.make_event()->wait(Time::max());
      auto left = rpc.shutdown(true, limit);
      if (env.rank == 0 && !left.ok()) leader = left.error().message;
      if (env.rank == 1 && !left.ok()) follower = left.error().message;
      return {};
    });
  };
  EXPECT_TRUE(without_worker2(Time{}).deadlocked);
  (void)without_worker2(4_s);
  EXPECT_EQ(leader, "Followers ['worker2'] timed out in _all_gather after 4.00 seconds.");
  EXPECT_EQ(follower, "worker1 waited 4.00 seconds in _all_gather for its leader, worker0");
}

TEST_F(RpcShutdown, ACallToAWorkerThatIsKilledEndsAtOnce) {
  sim::WorldSpec spec;
  sim::FaultSpec crash;
  crash.kind = FaultKind::crash;
  crash.match.rank = IntSet::of({1});
  crash.at.time = 1_s;
  spec.faults.push_back(crash);
  std::vector<Error> errors;
  Time ended{};
  (void)run(
      2,
      [&](Rpc& rpc, RankEnvironment& env) -> Status {
        if (env.rank == 1) return {};
        errors.push_back(rpc.rpc_sync("worker1", "work", {3}).error());
        ended = env.runtime.now();
        errors.push_back(rpc.rpc_sync("worker1", "work", {3}).error());
        errors.push_back(rpc.shutdown(true, 4_s).error());
        return {};
      },
      {}, spec);
  ASSERT_EQ(errors.size(), 3U);
  for (const Error& error : errors) {
    EXPECT_EQ(error.code, Code::peer_closed);
    EXPECT_NE(error.message.find("eof (worker1"), std::string::npos) << error.message;
  }
  EXPECT_TRUE(errors[2].message.starts_with(
      "Followers ['worker1'] timed out in _all_gather after 4.00 seconds. The first exception is eof"));
  EXPECT_LT(ended, 1100_ms);
}

TEST_F(RpcShutdown, ReferencesThatAreLeftAreNamedAndTheirValuesDropped) {
  std::vector<RpcLeak> leaks;
  RRef left;
  const RunRecord record = run(2, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank == 1) return {};
    left = *rpc.remote("worker1", "keep");
    auto found = rpc.shutdown();
    if (!found.ok()) return found.error();
    leaks = *found;
    return {};
  });
  ASSERT_EQ(leaks.size(), 1U);
  EXPECT_EQ(leaks[0], (RpcLeak{{0, 0}, {0, 1}, "worker1", "worker0"}));
  EXPECT_EQ(alive_, 0);
}

TEST_F(RpcShutdown, AValueLivesAsLongAsSomebodyRefersToIt) {
  std::vector<int> alive;
  const RunRecord record = run(3, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 0) return {};
    const auto settle = [&env] { env.runtime.sleep_until(env.runtime.now() + 1_ms); };
    RRef mine = *rpc.remote("worker1", "keep");
    settle();
    alive.push_back(alive_);
    {
      const RRef also = rpc.rpc_sync("worker2", "same", {mine})->as<RRef>();  // through a third, and back
      mine = RRef();
      settle();
      alive.push_back(alive_);
      PDSIM_TRY(rpc.rpc_sync("worker1", "drop", {also}).status());
      PDSIM_TRY(rpc.rpc_sync("worker2", "drop", {also}).status());
      settle();
      alive.push_back(alive_);
    }
    settle();
    alive.push_back(alive_);
    return {};
  });
  EXPECT_TRUE(all_returned(record));
  EXPECT_EQ(alive, (std::vector<int>{1, 1, 1, 0}));
}

TEST_F(RpcShutdown, AReferenceWhoseOwnerHasLeftIsAnErrorThatNamesTheOwner) {
  Error error;
  (void)run(2, [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank == 1) {
      env.runtime.sleep_until(1_s);
      return rpc.shutdown(false).status();
    }
    const RRef kept = *rpc.remote("worker1", "keep");
    env.runtime.sleep_until(2_s);
    error = rpc.to_here(kept).error();
    return rpc.shutdown(false).status();
  });
  EXPECT_EQ(error.code, Code::peer_closed);
  EXPECT_EQ(error.message, "eof (worker1 has shut down RPC)");
  EXPECT_EQ(alive_, 0);
}

TEST_F(RpcShutdown, AWorkerThatNeverJoinsIsAnErrorOfInitAfterItsTimeout) {
  auto record = sim::run(world_of(2), {}, [&](RankEnvironment& env) -> ProgramResult {
    if (env.rank == 1) return {};
    const RpcFunctions none;
    Rpc rpc(env, none);
    return {rpc.init_rpc("worker0", {16, 4_s}), {}};
  });
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->ranks[0].log.end, RankEnd::raised);
  EXPECT_LT(record->ranks[0].log.ended, 10_s);
}

TEST_F(RpcShutdown, AMessageThatIsChangedOnTheWayEndsTheConnectionWithThatText) {
  sim::WorldSpec spec;
  sim::FaultSpec corrupt;
  corrupt.kind = FaultKind::corrupt;
  corrupt.match.from = IntSet::of({0});
  corrupt.match.nth = IntSet::of({1});
  spec.faults.push_back(corrupt);
  std::string seen;
  (void)run(
      2,
      [&](Rpc& rpc, RankEnvironment& env) -> Status {
        if (env.rank == 1) {
          env.runtime.sleep_until(1_ms);
          seen = rpc.rpc_sync("worker0", "work", {0}).error().message;
          return {};
        }
        return rpc.rpc_sync("worker1", "work", {0}, 10_ms).status();
      },
      {}, spec);
  EXPECT_EQ(seen, "a message from rank 0 was cut short or changed on the way");
}

}  // namespace
}  // namespace pdsim
