#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

namespace pdsim::sim {
namespace {

TEST(Run, AllReduceIsRightOnEveryLibraryAndNumberOfRanks) {
  for (const char* backend : {"gloo", "nccl", "mpi", "ideal"})
    for (int p = 1; p <= 9; ++p) {
      const RunRecord r =
          with_group(world(p, backend), [](RankEnvironment&, ProcessGroup& g) { return sum_ones(g, 10); });
      EXPECT_FALSE(r.deadlocked);
      for (const RankResult& rank : r.ranks)
        EXPECT_EQ(rank.log.end, RankEnd::returned) << backend << p << rank.log.error.message;
    }
}

TEST(Run, ARingAllReduceTakesItsClosedForm) {
  WorldSpec spec = world(8, "ideal");
  spec.intra.latency = 5_us;
  spec.intra.bandwidth = Rate{12'500'000'000};
  spec.reduce_bandwidth = 100_GB_per_s;
  Time took{};
  (void)with_group(spec, [&took](RankEnvironment& env, ProcessGroup& g) -> Status {
    const Time began = env.runtime.now();
    const MutableView nothing{nullptr, DType::f32, 16 << 20};
    PDSIM_TRY(wait(g.all_reduce(nothing, ReduceOp::sum)));
    took = std::max(took, env.runtime.now() - began);
    return Status{};
  });
  EXPECT_NEAR(took.us(), 10052.444, 10.05);
}

TEST(Run, ABarrierThatOneRankSkipsDeadlocksAtItsVirtualTime) {
  const RunRecord r = with_group(world(2), [](RankEnvironment& env, ProcessGroup& g) {
    if (env.rank == 0) return wait(g.barrier());
    return wait(g.broadcast({nullptr, DType::f32, 4}, 1));
  });
  EXPECT_TRUE(r.deadlocked);
  EXPECT_LT(r.deadlock_at, 1_ms);
  EXPECT_EQ(r.ranks[0].log.end, RankEnd::running);
  EXPECT_EQ(r.ranks[0].log.calls.back().state, CallState::started);
  EXPECT_EQ(r.watchdog[0], "gloo: Timed out waiting 1800000ms for recv operation to complete, after 30min");
}

TEST(Run, ARankThatRaisesClosesItsConnections) {
  const RunRecord r = with_group(world(3), [](RankEnvironment& env, ProcessGroup& g) {
    if (env.rank == 1) return Status(Error{Code::invalid_argument, "a mistake", {}});
    return sum_ones(g, 4);
  });
  EXPECT_FALSE(r.deadlocked);
  EXPECT_EQ(r.ranks[0].log.error.code, Code::peer_closed);
  EXPECT_EQ(r.ranks[1].log.error.code, Code::invalid_argument);
  EXPECT_EQ(r.ranks[2].log.error.code, Code::peer_closed);
}

TEST(Run, TwoSendsThatWaitForEachOtherDeadlockOnlyWithoutBuffering) {
  for (const Buffering buffering : {Buffering::zero, Buffering::unbounded}) {
    WorldSpec spec = world(2);
    spec.buffering = buffering;
    const RunRecord r = with_group(spec, [](RankEnvironment& env, ProcessGroup& g) -> Status {
      int mine = env.rank, theirs = -1;
      const Rank peer = 1 - env.rank;
      PDSIM_TRY(wait(g.send({reinterpret_cast<std::byte*>(&mine), DType::i32, 1}, peer, 0)));
      PDSIM_TRY(wait(g.recv({reinterpret_cast<std::byte*>(&theirs), DType::i32, 1}, peer, 0)));
      return theirs == peer ? Status{} : Status(Error{Code::internal, "wrong message", {}});
    });
    EXPECT_EQ(r.deadlocked, buffering == Buffering::zero);
    if (buffering == Buffering::unbounded) {
      EXPECT_EQ(r.ranks[0].log.end, RankEnd::returned);
    }
  }
}

TEST(Run, TheSameSeedGivesTheSameFingerprintAndRandomSchedulesDiffer) {
  WorldSpec spec = world(4);
  spec.intra.jitter = 1_us;
  const auto body = [](RankEnvironment&, ProcessGroup& g) { return sum_ones(g, 100); };
  RunOptions random;
  random.strategy = "random";
  spec.seed = 7;
  const auto first = with_group(spec, body, random);
  const auto second = with_group(spec, body, random);
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  spec.seed = 8;
  EXPECT_NE(first.fingerprint, with_group(spec, body, random).fingerprint);
  spec.seed = 7;
  RunOptions replay;
  replay.strategy = "replay:";
  for (const std::uint32_t c : first.choices) replay.strategy += std::to_string(c) + ".";
  replay.strategy.pop_back();
  EXPECT_EQ(first.fingerprint, with_group(spec, body, replay).fingerprint);
}

TEST(Run, AThousandRanksMeetAtABarrier) {
  // On nccl a rank reads one address, on gloo those of all its peers.
  const RunRecord r =
      with_group(world(1000, "nccl"), [](RankEnvironment&, ProcessGroup& g) { return wait(g.barrier()); });
  for (const RankResult& rank : r.ranks) ASSERT_EQ(rank.log.end, RankEnd::returned);
}

TEST(Run, RefusesAnUnknownStrategyAndSaysWhatIsValid) {
  RunOptions options;
  options.strategy = "pct";
  const auto r = run(world(1), options, [](RankEnvironment&) { return ProgramResult{}; });
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(fact(r.error().facts, "help"), "expected fifo, random or replay:0.1.1");
}

}  // namespace
}  // namespace pdsim::sim
