// Fat trees, rails and tori: routes, what shares a link and what it costs; ranks of different speeds; costs of a message.
#include "core/base/random.h"
#include "sim/network/network.h"
#include "tests/unit/sim/group_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::sim {
namespace {

constexpr std::int64_t megabyte = 1'000'000;  // 100 us at 10 GB/s

WorldSpec links_world(int ranks, Topology::Kind kind) {
  WorldSpec spec = world(ranks, "ideal");
  spec.intra.latency = 5_us;
  spec.intra.bandwidth = 10_GB_per_s;
  spec.inter = spec.intra;
  spec.sharing = Sharing::links;
  spec.topology.kind = kind;
  return spec;
}

// When each of the messages arrives that are all sent at once, in this order.
std::vector<Time> arrivals(const WorldSpec& spec, const std::vector<std::pair<Rank, Rank>>& messages) {
  Network network(spec);
  auto chooser = Chooser::make("fifo", 0);
  std::vector<Time> result;
  for (const auto& [from, to] : messages)
    result.push_back(network.transmit(from, to, megabyte, Time{}, Time{}, *chooser)->arrived);
  return result;
}

TEST(Routes, OfATorusAreTheShortestAndGoFromEndToEnd) {
  for (const std::array<int, 3> sides : {std::array{1, 1, 1}, {5, 1, 1}, {4, 3, 1}, {2, 2, 2}, {3, 4, 5}}) {
    const int ranks = sides[0] * sides[1] * sides[2];
    WorldSpec spec = links_world(ranks, Topology::Kind::torus);
    spec.topology.sides = sides;
    const Routes routes(spec);
    std::vector<std::uint32_t> links;
    for (Rank from = 0; from < ranks; ++from)
      for (Rank to = 0; to < ranks; ++to) {
        const int hops = routes.find(from, to, links);
        int distance = 0, stride = 1;
        for (const int side : sides) {
          const int apart = std::abs(from / stride % side - to / stride % side);
          distance += std::min(apart, side - apart);
          stride *= side;
        }
        ASSERT_EQ(links.size(), static_cast<std::size_t>(distance)) << from << " " << to;
        ASSERT_EQ(hops, std::max(0, distance - 1));
        ASSERT_TRUE(from == to || links.front() / 6 == static_cast<std::uint32_t>(from));
        ASSERT_EQ(std::set<std::uint32_t>(links.begin(), links.end()).size(), links.size());
        for (const std::uint32_t link : links) ASSERT_LT(link, routes.links());
      }
  }
}

TEST(FatTree, SlowsWhatCrossesTheSpineByItsOversubscription) {
  for (const int ratio : {1, 2, 4}) {
    WorldSpec spec = links_world(8, Topology::Kind::fat_tree);
    spec.topology.leaf = 4;
    spec.topology.hop = 1_us;
    spec.topology.oversubscription = ratio;
    const auto across = arrivals(spec, {{0, 4}, {1, 5}, {2, 6}, {3, 7}});
    EXPECT_EQ(*std::max_element(across.begin(), across.end()), 5_us + 2_us + 100_us * ratio) << ratio;
    for (const Time arrived : arrivals(spec, {{0, 1}, {1, 2}, {2, 3}, {3, 0}})) EXPECT_EQ(arrived, 105_us);
  }
}

TEST(FatTree, OfNodesSharesTheNodesPortsToo) {
  WorldSpec spec = links_world(2, Topology::Kind::fat_tree);
  spec.two_level = true;
  spec.nodes = 4;
  spec.topology.leaf = 2;
  const auto within_leaf = arrivals(spec, {{0, 2}, {1, 3}});  // two ranks of a node, to the two of the next
  EXPECT_EQ(within_leaf[0], 105_us);
  EXPECT_EQ(within_leaf[1], 205_us);
}

TEST(Rails, KeepRanksOfOnePlaceApartFromTheOthers) {
  WorldSpec spec = links_world(4, Topology::Kind::rail);
  spec.two_level = true;
  spec.nodes = 4;
  spec.intra.latency = 1_us;
  spec.topology.hop = 1_us;
  spec.topology.oversubscription = 4;
  for (const Time arrived : arrivals(spec, {{0, 4}, {1, 5}, {2, 6}, {3, 7}})) EXPECT_EQ(arrived, 105_us);
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 101_us);  // within the node
  const auto crossing = arrivals(spec, {{0, 5}, {4, 9}, {8, 13}, {12, 1}});
  EXPECT_EQ(*std::max_element(crossing.begin(), crossing.end()), 5_us + 2_us + 400_us);
}

TEST(Torus, LetsNeighboursTalkAtOnceAndSharesWhatRoutesHaveInCommon) {
  WorldSpec spec = links_world(8, Topology::Kind::torus);
  spec.topology.sides = {8, 1, 1};
  spec.topology.hop = 1_us;
  for (const Time arrived : arrivals(spec, {{0, 1}, {1, 2}, {2, 3}, {7, 0}, {5, 4}})) EXPECT_EQ(arrived, 105_us);
  const auto common = arrivals(spec, {{0, 3}, {1, 4}, {2, 5}});  // all of them over the link from 2 to 3
  EXPECT_EQ(common[0], 107_us);
  EXPECT_EQ(*std::max_element(common.begin(), common.end()), 307_us);
  spec.sharing = Sharing::ports;
  for (const Time arrived : arrivals(spec, {{0, 3}, {1, 4}, {2, 5}})) EXPECT_EQ(arrived, 107_us);
}

TEST(Reservations, FillGapsAndNeverOverlap) {
  Reservations link;
  EXPECT_EQ(link.take(10_us, 5_us, 0_us), 10_us);
  EXPECT_EQ(link.take(0_us, 11_us, 0_us), 15_us);  // does not fit before
  EXPECT_EQ(link.take(0_us, 4_us, 0_us), 0_us);
  EXPECT_EQ(link.take(2_us, 6_us, 0_us), 4_us);  // fills it to the brim
  EXPECT_EQ(link.take(0_us, 1_us, 0_us), 26_us);
  EXPECT_EQ(link.take(30_us, 1_us, 30_us), 30_us);
}

// The first gap, searched picosecond by picosecond.
TEST(Reservations, GiveTheFirstGapThereIs) {
  Random random(5);
  for (int world = 0; world < 200; ++world) {
    Reservations link;
    std::vector<bool> busy(2000);
    Time now{};
    for (int i = 0; i < 30; ++i) {
      const auto later = static_cast<std::int64_t>(random.below(12));
      const auto wait = static_cast<std::int64_t>(random.below(40));
      const auto duration = static_cast<std::int64_t>(random.below(9));
      now = now + Time{later};
      std::int64_t at = now.ps + wait;
      const auto fits = [&](std::int64_t from) {
        for (std::int64_t t = from; t < from + duration; ++t)
          if (busy[static_cast<std::size_t>(t)]) return false;
        return true;
      };
      const std::int64_t ready = at;
      while (!fits(at)) ++at;
      const Time given = link.take(Time{ready}, Time{duration}, now);
      ASSERT_TRUE(duration == 0 || given == Time{at}) << world << " " << i;
      for (std::int64_t t = at; t < at + duration; ++t) busy[static_cast<std::size_t>(t)] = true;
    }
  }
}

// Four ranks below a leaf switch send ten messages each over its one link, which is as fast as one of their ports.
TEST(SharedLink, GivesEachOfItsSendersTheSame) {
  WorldSpec spec = links_world(8, Topology::Kind::fat_tree);
  spec.buffering = Buffering::zero;
  spec.payload = false;
  spec.topology.leaf = 4;
  spec.topology.oversubscription = 4;
  constexpr int times = 10;
  std::vector<std::vector<Time>> received(4);
  const auto body = [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    const Time began = env.runtime.now();
    for (int i = 0; i < times; ++i) {
      if (env.rank < 4) PDSIM_TRY(wait(g.send({nullptr, DType::u8, megabyte}, env.rank + 4, 0)));
      if (env.rank < 4) continue;
      PDSIM_TRY(wait(g.recv({nullptr, DType::u8, megabyte}, env.rank - 4, 0)));
      received[static_cast<std::size_t>(env.rank - 4)].push_back(env.runtime.now() - began);
    }
    return {};
  };
  (void)with_group(spec, body);
  for (std::size_t i = 0; i < times; ++i) {
    Time first = Time::max(), last{};
    for (const std::vector<Time>& mine : received) {
      first = std::min(first, mine[i]);
      last = std::max(last, mine[i]);
    }
    EXPECT_LE((last - first).ps, (300_us).ps) << i;  // nobody is a whole turn behind another
    EXPECT_LE(first.ps, (405_us * (static_cast<int>(i) + 1)).ps) << i;
    EXPECT_GE(last.ps, (400_us * (static_cast<int>(i) + 1)).ps) << i;  // and the link does no more than it can
  }
  const auto once = received;
  for (std::vector<Time>& mine : received) mine.clear();
  (void)with_group(spec, body);
  EXPECT_EQ(received, once);
}

TEST(Topology, IsDeterministicAndDecidesTheTimeOfACollective) {
  const auto ring = [](const WorldSpec& spec) {
    Time last{};
    const RunRecord r = with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
      PDSIM_TRY(wait(g.all_reduce({nullptr, DType::u8, megabyte}, ReduceOp::sum)));
      last = std::max(last, env.runtime.now());
      return {};
    });
    return std::pair(last, r.fingerprint);
  };
  WorldSpec spec = links_world(8, Topology::Kind::fat_tree);
  spec.payload = false;
  spec.topology.leaf = 4;
  const auto full = ring(spec);
  EXPECT_EQ(ring(spec), full);
  spec.topology.oversubscription = 16;  // a single message across takes four times as long
  EXPECT_GT(ring(spec).first.ps, 2 * full.first.ps);
}

TEST(Speeds, LimitThePortsAndTheWorkOfTheirRanks) {
  WorldSpec spec = links_world(4, Topology::Kind::crossbar);
  spec.speeds = {{IntSet::of({3}), 2.0, 5_GB_per_s}, {IntSet::range(2, 3), 3.0, {}}};
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 105_us);
  EXPECT_EQ(arrivals(spec, {{0, 3}})[0], 205_us);
  EXPECT_EQ(arrivals(spec, {{3, 0}})[0], 205_us);
  spec.reduce_bandwidth = 10_GB_per_s;
  std::vector<Time> computed(4);
  (void)with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
    const Time began = env.runtime.now();
    env.runtime.compute(1_ms);
    computed[static_cast<std::size_t>(env.rank)] = env.runtime.now() - began;
    return wait(g.barrier());
  });
  EXPECT_EQ(computed, (std::vector<Time>{1_ms, 1_ms, 3_ms, 6_ms}));
}

TEST(Speeds, SlowTheCombiningOfASlowRank) {
  for (const double work : {1.0, 4.0}) {
    WorldSpec spec = links_world(2, Topology::Kind::crossbar);
    spec.buffering = Buffering::zero;
    spec.reduce_bandwidth = 10_GB_per_s;
    spec.speeds = {{IntSet::of({0}), work, {}}};
    Time took{};
    (void)with_group(spec, [&](RankEnvironment& env, ProcessGroup& g) -> Status {
      const Time began = env.runtime.now();
      PDSIM_TRY(wait(g.all_reduce({nullptr, DType::u8, 2 * megabyte}, ReduceOp::sum)));
      if (env.rank == 0) took = env.runtime.now() - began;
      return {};
    });
    EXPECT_EQ(took, 210_us + Time{static_cast<std::int64_t>(work) * 100'000'000});
  }
}

// A megabyte keeps a core busy for 100us at either end.
TEST(Cores, AreTakenByBothEndsOfAMessage) {
  WorldSpec spec = links_world(6, Topology::Kind::crossbar);
  const std::vector<std::pair<Rank, Rank>> three{{0, 1}, {2, 3}, {4, 5}};
  const Time alone = arrivals(spec, {{0, 1}})[0];
  EXPECT_EQ(arrivals(spec, three), (std::vector<Time>{alone, alone, alone}));
  spec.cores = 1;
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 200_us) << "sending and receiving take turns";
  spec.cores = 6;
  EXPECT_EQ(arrivals(spec, three), (std::vector<Time>{alone, alone, alone}));
  spec.cores = 2;
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], alone);
  EXPECT_EQ(arrivals(spec, three)[2], 305_us) << "six ends of 100us on two cores, one of which begins after a latency";
}

TEST(Cores, OfEachNodeAreItsOwn) {
  WorldSpec spec = links_world(4, Topology::Kind::crossbar);
  spec.two_level = true;
  spec.nodes = 4;
  spec.ranks_per_node = 1;
  spec.cores = 1;
  EXPECT_EQ(arrivals(spec, {{0, 1}, {2, 3}}), (std::vector<Time>{105_us, 105_us}));
}

TEST(Costs, OfAMessageAreHeaderFirstByteOverheadAndTick) {
  WorldSpec spec = links_world(2, Topology::Kind::crossbar);
  spec.intra.header = Bytes{16};
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 105_us + Time{1'600});
  spec.intra.first_byte_free = true;
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 105_us + Time{1'500});
  spec.intra.tick = 1_ns;
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 105_us + Time{1'000});
  spec.intra.overhead = 2_us;
  EXPECT_EQ(arrivals(spec, {{0, 1}})[0], 109_us + Time{1'000});
  const auto two = arrivals(spec, {{0, 1}, {0, 1}});
  EXPECT_EQ(two[1] - two[0], 102_us + Time{1'000});
}

}  // namespace
}  // namespace pdsim::sim
