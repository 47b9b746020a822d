// Simulated times of whole collectives: their closed forms, and what another simulator (SMPI) gives.
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace pdsim::sim {
namespace {

// Virtual time of one call without payload, from the first rank's start to the last rank's end.
Time time_of(const WorldSpec& spec, CollectiveKind kind, std::string_view algorithm, std::int64_t bytes) {
  Time first = Time::max(), last{};
  const RunRecord r = with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    const Time began = env.runtime.now();
    CallOptions options;
    options.algorithm = algorithm;
    const MutableView data{nullptr, DType::u8, bytes};
    const MutableView all{nullptr, DType::u8, bytes * g.size()};
    if (kind == CollectiveKind::all_reduce) PDSIM_TRY(wait(g.all_reduce(data, ReduceOp::sum, options)));
    if (kind == CollectiveKind::broadcast) PDSIM_TRY(wait(g.broadcast(data, 0, options)));
    const MutableView parts{nullptr, DType::u8, (bytes + g.size() - 1) / g.size() * g.size()};
    if (kind == CollectiveKind::all_to_all) PDSIM_TRY(wait(g.all_to_all(parts, parts, options)));
    if (kind == CollectiveKind::all_gather) PDSIM_TRY(wait(g.all_gather({nullptr, DType::u8, bytes}, all, options)));
    if (kind == CollectiveKind::barrier) PDSIM_TRY(wait(g.barrier(options)));
    first = std::min(first, began);
    last = std::max(last, env.runtime.now());
    return Status{};
  });
  EXPECT_FALSE(r.deadlocked);
  return last - first;
}

struct Row {
  int ranks;
  CollectiveKind kind;
  const char* algorithm;
  std::int64_t bytes;
  double us;
};

// alpha 5 us, beta 1 / 12.5 GB/s, gamma 1 / 100 GB/s.
TEST(ClosedForm, OfAlphaBetaGammaHoldsWithinATenthOfAPercent) {
  const Row rows[] = {
      {4, CollectiveKind::all_reduce, "ring", 1024, 30.131},
      {6, CollectiveKind::all_reduce, "ring", 1 << 20, 198.548},
      {8, CollectiveKind::all_reduce, "ring", 64 << 20, 10052.444},
      {4, CollectiveKind::all_reduce, "recursive_doubling", 1024, 10.184},
      {6, CollectiveKind::all_reduce, "recursive_doubling", 1 << 20, 387.002},
      {8, CollectiveKind::all_reduce, "recursive_doubling", 64 << 20, 18134.393},
      {4, CollectiveKind::all_reduce, "rabenseifner", 1024, 20.131},
      {6, CollectiveKind::all_reduce, "rabenseifner", 1 << 20, 341.951},
      {8, CollectiveKind::all_reduce, "rabenseifner", 64 << 20, 10012.444},
      {4, CollectiveKind::all_reduce, "reduce_broadcast", 1024, 20.348},
      {6, CollectiveKind::all_reduce, "reduce_broadcast", 1 << 20, 564.774},
      {8, CollectiveKind::all_reduce, "reduce_broadcast", 64 << 20, 34255.521},
      {4, CollectiveKind::broadcast, "scatter_ring", 1024, 25.123},
      {6, CollectiveKind::broadcast, "scatter_ring", 1 << 20, 179.810},
      {8, CollectiveKind::broadcast, "scatter_ring", 64 << 20, 9445.241},
      {4, CollectiveKind::all_to_all, "pairwise", 1024, 15.061},
      {6, CollectiveKind::all_to_all, "pairwise", 1 << 20, 94.905},
      {8, CollectiveKind::all_to_all, "pairwise", 64 << 20, 4732.620},
      {4, CollectiveKind::broadcast, "binomial", 1024, 10.164},
      {6, CollectiveKind::broadcast, "binomial", 1 << 20, 266.658},
      {8, CollectiveKind::broadcast, "binomial", 64 << 20, 16121.127},
  };
  for (const Row& row : rows) {
    WorldSpec spec = world(row.ranks, "ideal");
    spec.intra.latency = 5_us;
    spec.intra.bandwidth = Rate{12'500'000'000};
    spec.buffering = Buffering::zero;  // a send ends when it was received, so that every round costs its alpha
    spec.reduce_bandwidth = Rate{100'000'000'000};
    const double got = time_of(spec, row.kind, row.algorithm, row.bytes).us();
    EXPECT_NEAR(got, row.us, row.us / 1000) << row.algorithm << " " << row.ranks << " " << row.bytes;
  }
}

// Flat cluster, 10 us end to end, 25 GB/s, 16 bytes more in every message.
TEST(ClosedForm, OfSmpiHoldsWithinANanosecondWithItsHeader) {
  const Row rows[] = {
      {16, CollectiveKind::all_reduce, "ring", 65536, 304.934},
      {16, CollectiveKind::all_reduce, "recursive_doubling", 1048576, 207.775},
      {64, CollectiveKind::broadcast, "binomial", 65536, 75.732},
      {64, CollectiveKind::all_reduce, "ring", 67108864, 6544.904},
      {256, CollectiveKind::barrier, "dissemination", 0, 80.005},
      {256, CollectiveKind::all_gather, "ring", 65536, 3218.630},
  };
  for (const Row& row : rows) {
    WorldSpec spec = world(row.ranks, "ideal");
    spec.intra.latency = 10_us;
    spec.intra.bandwidth = Rate{25'000'000'000};
    spec.intra.header = Bytes{16};
    const double got = time_of(spec, row.kind, row.algorithm, row.bytes).us();
    EXPECT_NEAR(got, row.us, 0.001) << row.algorithm << " " << row.ranks << " " << row.bytes;
  }
}

// Eight senders, one receiver: its port takes one message after the other.
TEST(ClosedForm, OfIncastIsTheTimeOfTheSharedPort) {
  for (const auto& [sharing, expected] :
       {std::pair(Sharing::ports, 5_us + Time{8 * 80'000'000}), std::pair(Sharing::none, 5_us + Time{80'000'000})}) {
    WorldSpec spec = world(9, "ideal");
    spec.intra.latency = 5_us;
    spec.intra.bandwidth = Rate{12'500'000'000};
    spec.sharing = sharing;
    Time took{};
    (void)with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
      const Time began = env.runtime.now();
      if (env.rank != 0) return wait(g.send({nullptr, DType::u8, 1'000'000}, 0, 0));
      for (Rank from = 1; from < 9; ++from) PDSIM_TRY(wait(g.recv({nullptr, DType::u8, 1'000'000}, from, 0)));
      took = env.runtime.now() - began;
      return Status{};
    });
    EXPECT_EQ(took, expected) << static_cast<int>(sharing);
  }
}

// Two nodes x two ranks: what stays inside a node is fast, what crosses shares the node's links when they are shared.
TEST(ClosedForm, OfTwoLevelsTakesTheLinkBetweenTheRanks) {
  for (const auto& [sharing, expected] : {std::pair(Sharing::links, 20_us + Time{2 * 100'000'000}),
                                          std::pair(Sharing::ports, 20_us + Time{100'000'000})}) {
    WorldSpec spec = world(2, "ideal");
    spec.nodes = 2;
    spec.two_level = true;
    spec.intra.latency = 1_us;
    spec.inter.latency = 20_us;
    spec.inter.bandwidth = Rate{10'000'000'000};
    spec.sharing = sharing;
    Time last{};
    (void)with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
      const Time began = env.runtime.now();
      if (env.rank < 2) return wait(g.send({nullptr, DType::u8, 1'000'000}, env.rank + 2, 0));
      PDSIM_TRY(wait(g.recv({nullptr, DType::u8, 1'000'000}, env.rank - 2, 0)));
      last = std::max(last, env.runtime.now() - began);
      return Status{};
    });
    EXPECT_EQ(last, expected) << static_cast<int>(sharing);
  }
}

}  // namespace
}  // namespace pdsim::sim
