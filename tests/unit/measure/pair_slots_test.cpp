// Every pair is timed once, and no two at the same time share a rank or a node's port.
#include "core/measure/pair_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace pdsim {
namespace {

std::vector<std::int64_t> nodes_of(const std::vector<int>& ranks) {
  std::vector<std::int64_t> nodes;
  for (std::size_t node = 0; node < ranks.size(); ++node) nodes.insert(nodes.end(), static_cast<std::size_t>(ranks[node]), 100 - static_cast<std::int64_t>(node));
  return nodes;
}

void expect_disjoint(const std::vector<std::int64_t>& nodes) {
  std::set<std::pair<Rank, Rank>> seen;
  for (const auto& slot : pair_slots(nodes)) {
    std::set<std::int64_t> busy;
    for (const RankPair pair : slot) {
      EXPECT_LT(pair.a, pair.b);
      EXPECT_TRUE(seen.emplace(pair.a, pair.b).second) << pair.a << " " << pair.b;
      for (const std::int64_t node : std::set{nodes[static_cast<std::size_t>(pair.a)], nodes[static_cast<std::size_t>(pair.b)]})
        EXPECT_TRUE(busy.insert(node).second) << "node " << node;
    }
  }
  EXPECT_EQ(seen.size(), nodes.size() * (nodes.size() - 1) / 2);
}

TEST(PairSlots, ShareNoPortAndLeaveNoPairOut) {
  for (const std::vector<int>& ranks : std::vector<std::vector<int>>{{1}, {5}, {1, 1}, {2, 3, 1}, {4, 4, 4, 4}, {1, 1, 1, 1, 1, 1, 1}})
    expect_disjoint(nodes_of(ranks));
}

TEST(PairSlots, AreAsFewAsTheNodesAllow) {
  EXPECT_EQ(pair_slots(nodes_of({1, 1, 1, 1, 1, 1, 1, 1})).size(), 7U);
  EXPECT_EQ(pair_slots(nodes_of({4, 4, 4, 4})).size(), 6U + 3U * 16U);
}

TEST(PairSlots, PlacesOfPairsCountUp) {
  std::int64_t place = 0;
  for (Rank a = 0; a < 6; ++a)
    for (Rank b = a + 1; b < 6; ++b) EXPECT_EQ(place_of_pair({a, b}, 6), place++);
}

}  // namespace
}  // namespace pdsim
