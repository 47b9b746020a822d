// Each kind of fault: its exact effect, and that it touches nothing else.
#include "sim/network/faults.h"

#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace pdsim::sim {
namespace {

constexpr std::size_t bytes = 1000;

// Rank 0 sends 1000 B to rank 1, `times` times, one after the other: 5us of latency and 1us of transfer each.
WorldSpec pair_of_ranks(std::vector<FaultSpec> faults) {
  WorldSpec spec = world(2);
  spec.intra.latency = 5_us;
  spec.intra.bandwidth = Rate{1'000'000'000};
  spec.faults = std::move(faults);
  return spec;
}

struct Messages {
  RunRecord run;
  std::vector<Time> took;  // by rank 1, of each message
  std::vector<int> first;  // its first byte
};

Messages send_to_rank_1(const WorldSpec& spec, int times = 1) {
  Messages seen;
  seen.run = with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    PDSIM_TRY(wait(g.barrier()));
    for (int i = 0; i < times; ++i) {
      const Time began = env.runtime.now();
      std::array<std::byte, bytes> data{};
      data.fill(std::byte{7});
      if (env.rank == 0) PDSIM_TRY(wait(g.send({data.data(), DType::u8, bytes}, 1, 0)));
      if (env.rank != 1) continue;
      data.fill(std::byte{0});
      PDSIM_TRY(wait(g.recv({data.data(), DType::u8, bytes}, 0, 0)));
      seen.took.push_back(env.runtime.now() - began);
      seen.first.push_back(static_cast<int>(data[0]));
    }
    return Status{};
  });
  return seen;
}

FaultSpec fault(FaultKind kind, std::string op = "send") {
  FaultSpec f;
  f.kind = kind;
  f.match.op = std::move(op);
  return f;
}

TEST(Faults, WithoutOneAMessageTakesLatencyAndTransfer) {
  const Messages seen = send_to_rank_1(pair_of_ranks({}), 2);
  EXPECT_EQ(seen.took, (std::vector<Time>{6_us, 6_us}));
  EXPECT_EQ(seen.first, (std::vector<int>{7, 7}));
}

TEST(Faults, DelayAddsItsTimeToTheMessagesItMatchesAndDelaysAddUp) {
  FaultSpec second = fault(FaultKind::delay);
  second.by = 100_us;
  second.match.nth = IntSet::parse("2").value();
  FaultSpec all = fault(FaultKind::delay);
  all.by = 10_us;
  EXPECT_EQ(send_to_rank_1(pair_of_ranks({second, all}), 3).took, (std::vector<Time>{16_us, 116_us, 16_us}));
}

TEST(Faults, ADroppedMessageHangsBothSides) {
  const Messages seen = send_to_rank_1(pair_of_ranks({fault(FaultKind::drop)}));
  EXPECT_TRUE(seen.run.deadlocked);
  for (const RankResult& r : seen.run.ranks) EXPECT_EQ(r.log.end, RankEnd::running);
}

TEST(Faults, ACorruptMessageHasItsFirstByteFlipped) {
  EXPECT_EQ(send_to_rank_1(pair_of_ranks({fault(FaultKind::corrupt)})).first, std::vector<int>{255 - 7});
}

TEST(Faults, ADuplicateTakesThePortOnceMoreAndDeliversOnce) {
  const Messages seen = send_to_rank_1(pair_of_ranks({fault(FaultKind::duplicate)}), 2);
  EXPECT_EQ(seen.first, (std::vector<int>{7, 7}));
  EXPECT_EQ(seen.took[0], 6_us);
  EXPECT_EQ(seen.run.deadlocked, false);
}

TEST(Faults, AReorderedMessageIsLateByOneMessage) {
  EXPECT_EQ(send_to_rank_1(pair_of_ranks({fault(FaultKind::reorder)})).took[0], 12_us + Time{1});
}

TEST(Faults, OneThatMatchesNothingChangesNothing) {
  for (const FaultRow& row : fault_table) {
    if (row.strikes != Strikes::messages) continue;
    FaultSpec f = fault(row.kind, "all_to_all");
    f.by = 1_ms;
    const Messages seen = send_to_rank_1(pair_of_ranks({f}));
    EXPECT_EQ(seen.took, std::vector<Time>{6_us}) << row.name;
    EXPECT_EQ(seen.first, std::vector<int>{7}) << row.name;
    for (const Note& note : seen.run.ranks[0].log.notes) EXPECT_FALSE(note.is<notes::Fault>()) << row.name;
  }
}

TEST(Faults, APartitionDropsWhatCrossesItFromItsTimeOn) {
  FaultSpec f;
  f.kind = FaultKind::partition;
  f.groups = {{0, 1}, {2, 3}};
  f.at.time = 200_us;
  WorldSpec spec = world(4);
  spec.faults = {f};
  Time last{};
  const RunRecord r = with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    for (int i = 0; i < 1000; ++i) {
      PDSIM_TRY(sum_ones(g, 1));
      last = env.runtime.now();
    }
    return Status{};
  });
  EXPECT_TRUE(r.deadlocked);
  EXPECT_GE(last + 100_us, 200_us);
  EXPECT_LT(last, 300_us);
}

TEST(Faults, SlowMultipliesLocalWorkOnly) {
  FaultSpec f;
  f.kind = FaultKind::slow;
  f.factor = 2.5;
  f.match.rank = IntSet::parse("1").value();
  WorldSpec spec = world(2);
  spec.faults = {f};
  std::array<Time, 2> took{};
  (void)with_group(spec, [&](RankEnvironment& env, ProcessGroup&) -> Status {
    const Time began = env.runtime.now();
    env.runtime.compute(100_us);
    took[static_cast<std::size_t>(env.rank)] = env.runtime.now() - began;
    return Status{};
  });
  EXPECT_EQ(took[0], 100_us);
  EXPECT_EQ(took[1], 250_us);
}

TEST(Faults, SkewShiftsWhatARankSeesOfTimeAndNothingElse) {
  FaultSpec f;
  f.kind = FaultKind::skew;
  f.offset = 1_s;
  f.match.rank = IntSet::parse("1").value();
  WorldSpec plain = world(2);
  WorldSpec skewed = plain;
  skewed.faults = {f};
  std::array<Time, 2> seen{};
  const auto body = [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    PDSIM_TRY(wait(g.barrier()));
    seen[static_cast<std::size_t>(env.rank)] = env.runtime.now();
    return Status{};
  };
  const RunRecord before = with_group(plain, body);
  const Time unskewed = seen[1];
  const RunRecord after = with_group(skewed, body);
  EXPECT_EQ(seen[1], unskewed + 1_s);
  EXPECT_EQ(before.elapsed, after.elapsed);
}

RunRecord strike(const std::string& backend, FaultSpec f) {
  WorldSpec spec = world(3, backend);
  f.match.rank = IntSet::parse("1").value();
  f.at.time = 1_ms;
  spec.faults = {f};
  return with_group(spec, [](RankEnvironment& env, ProcessGroup& g) -> Status {
    for (int i = 0; i < 50; ++i) {
      env.runtime.compute(100_us);
      PDSIM_TRY(sum_ones(g, 1));
    }
    return Status{};
  });
}

TEST(Faults, ACrashIsSeenByThePeersAsTheirBackendShowsIt) {
  const auto survivors = [](const std::string& backend) {
    const RunRecord r = strike(backend, fault(FaultKind::crash, ""));
    EXPECT_EQ(r.ranks[1].log.end, RankEnd::died) << backend;
    EXPECT_EQ(r.ranks[1].log.ended, 1_ms) << backend;
    EXPECT_EQ(r.ranks[1].log.error.code, Code::rank_crashed) << backend;
    EXPECT_EQ(r.ranks[0].log.end, r.ranks[2].log.end) << backend;
    EXPECT_EQ(r.ranks[0].log.error.code, r.ranks[2].log.error.code) << backend;
    return std::pair(r.ranks[0].log.end, r.ranks[0].log.error.code);
  };
  EXPECT_EQ(survivors("gloo"), std::pair(RankEnd::raised, Code::peer_closed));
  EXPECT_EQ(survivors("ideal"), std::pair(RankEnd::raised, Code::peer_closed));
  EXPECT_EQ(survivors("mpi"), std::pair(RankEnd::died, Code::cancelled));
  EXPECT_EQ(survivors("nccl").first, RankEnd::running);
}

TEST(Faults, AHungRankIsSilentAndGoesOnWhenItsTimeIsOver) {
  FaultSpec f = fault(FaultKind::hang, "");
  EXPECT_TRUE(strike("gloo", f).deadlocked);
  f.duration = 10_ms;
  const RunRecord r = strike("gloo", f);
  EXPECT_FALSE(r.deadlocked);
  EXPECT_GE(r.elapsed, 11_ms);
  for (const RankResult& rank : r.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned);
}

TEST(Faults, EveryFaultIsNotedInTheRecordOfTheRankItStrikes) {
  const RunRecord r = strike("gloo", fault(FaultKind::crash, ""));
  const auto& noted = r.ranks[1].log.notes;
  ASSERT_FALSE(noted.empty());
  ASSERT_TRUE(noted.back().is<notes::Fault>());
  EXPECT_EQ(noted.back().as<notes::Fault>().fault, FaultKind::crash);
}

}  // namespace
}  // namespace pdsim::sim
