// Algorithms that look at where ranks are: NCCL's two trees, and all-reduce over nodes.
#include "core/collectives/plans/double_tree.h"
#include "core/collectives/proof/plan_checker.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

int children_of(const TreePlace& place) {
  return static_cast<int>(std::count_if(place.children.begin(), place.children.end(), [](Rank c) { return c >= 0; }));
}

TEST(TreePair, IsATreeOverAllRanksWhoseLevelsFallTowardsTheLeaves) {
  for (int p = 1; p <= 130; ++p)
    for (int tree = 0; tree < 2; ++tree) {
      int roots = 0, edges = 0;
      for (Rank r = 0; r < p; ++r) {
        const TreePlace place = place_in_tree(tree, r, p);
        roots += place.parent == no_rank ? 1 : 0;
        edges += children_of(place);
        for (const Rank child : place.children) {
          if (child == no_rank) continue;
          const TreePlace below = place_in_tree(tree, child, p);
          EXPECT_EQ(below.parent, r) << p;
          EXPECT_EQ(below.parent_level, place.level) << p;
          EXPECT_LT(below.level, place.level) << p;
        }
      }
      EXPECT_EQ(roots, 1) << p;
      EXPECT_EQ(edges, p - 1) << p;
    }
}

TEST(TreePair, HasEveryRankButTheRootsAsALeafOfOneTree) {
  for (int p = 2; p <= 130; ++p)
    for (Rank r = 0; r < p; ++r) {
      const TreePlace first = place_in_tree(0, r, p), second = place_in_tree(1, r, p);
      if (first.parent == no_rank || second.parent == no_rank) continue;
      EXPECT_TRUE(children_of(first) == 0 || children_of(second) == 0) << p << " " << r;
    }
}

// As NCCL prints them: its trees over eight and over five ranks.
TEST(TreePair, IsNcclsOverEightAndFiveRanks) {
  const auto parents = [](int tree, int p) {
    std::vector<Rank> all;
    for (Rank r = 0; r < p; ++r) all.push_back(place_in_tree(tree, r, p).parent);
    return all;
  };
  EXPECT_EQ(parents(0, 8), (std::vector<Rank>{-1, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(parents(1, 8), (std::vector<Rank>{1, 3, 1, 7, 5, 3, 5, -1}));
  EXPECT_EQ(parents(0, 5), (std::vector<Rank>{-1, 2, 4, 2, 0}));
  EXPECT_EQ(parents(1, 5), (std::vector<Rank>{1, -1, 3, 0, 3}));
}

TEST(TwoLevelAllReduce, IsProvenForNodesOfEverySizeAndCostsItsClosedForm) {
  const Algorithm& two_level = *find_algorithm(CollectiveKind::all_reduce, "two_level").value();
  for (int p = 1; p <= 16; ++p)
    for (int local = 1; local <= p + 1; ++local)
      for (const std::int64_t n : {0, 1, p - 1, p, 2 * p + 3}) {
        const PlanVerdict v = check_plan(two_level, p, n, 0, local);
        ASSERT_TRUE(v.ok) << v.problem << " with " << local << " on a node";
        const PlanCost want = two_level.cost(p, n, local);
        EXPECT_EQ(v.counted.rounds, want.rounds) << p << " / " << local << " n=" << n;
        EXPECT_EQ(v.counted.messages, want.messages) << p << " / " << local << " n=" << n;
        EXPECT_EQ(v.counted.elements_sent, want.elements_sent) << p << " / " << local << " n=" << n;
      }
}

// 2n(g-1)/g inside a node and 2(n/g)(N-1)/N between nodes.
TEST(TwoLevelAllReduce, SendsLessBetweenNodesTheMoreRanksShareOne) {
  const Algorithm& two_level = *find_algorithm(CollectiveKind::all_reduce, "two_level").value();
  EXPECT_EQ(two_level.cost(32, 3200, 8).elements_sent, 2 * 3200 * 7 / 8 + 2 * 400 * 3 / 4);
  EXPECT_EQ(two_level.cost(32, 3200, 8).rounds, 2 * 7 + 2 * 3);
}

}  // namespace
}  // namespace pdsim
