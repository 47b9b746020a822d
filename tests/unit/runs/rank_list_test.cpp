#include "scenarios/text/rank_list.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

TEST(RankList, IsWholeWhereItFits) {
  EXPECT_EQ(ranks_within({3}, 8), "rank 3");
  EXPECT_EQ(ranks_within({7, 0, 1, 2}, 40), "ranks 0..2, 7");
  EXPECT_EQ(numbers_within({0, 1, 2, 7}, 40), "0..2, 7");
}

TEST(RankList, CountsWhatDoesNotFit) {
  const std::vector<Rank> odd{1, 3, 5, 7, 9, 11, 13, 15, 17};
  EXPECT_EQ(ranks_within(odd, 24), "ranks 1, 3, 5 and 6 more");
  EXPECT_EQ(numbers_within(odd, 17), "1, 3 and 7 more");
  EXPECT_EQ(numbers_within(odd, 1), "1 and 8 more");
}

}  // namespace
}  // namespace pdsim::scenarios
