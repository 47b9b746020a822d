// How the blocks of a library that was called directly become one time.
#include "core/measure/timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace pdsim {
namespace {

constexpr double us = 1e6;  // in picoseconds

// Two functions called beside ours, three blocks of two calls; a block's times follow one another: ours, first, second.
TimingRequest request() {
  TimingRequest asked;
  asked.counts = {16};
  asked.in_place_too = false;
  asked.iterations = 2;
  asked.raw_forms = 2;
  asked.blocks = 3;
  return asked;
}

RankResult rank_with(std::vector<double> blocks, std::vector<double> wrong) {
  RankResult rank;
  rank.values["round 0"] = {0.0, 0.0, 0.0};
  rank.values["round 0 blocks"] = std::move(blocks);
  rank.values["round 0 raw wrong"] = std::move(wrong);
  return rank;
}

TEST(RawTiming, TakesTheMedianAndTheLeastOfTheBlocksOfAllRanks) {
  const RankResult a = rank_with({8 * us, 4 * us, 2 * us, 80 * us, 6 * us, 2 * us, 10 * us, 400 * us, 4 * us}, {0, 0});
  const RankResult b = rank_with({4 * us, 4 * us, 2 * us, 80 * us, 2 * us, 6 * us, 10 * us, 400 * us, 8 * us}, {1, 0});
  const std::vector<TimedRound> rounds = timed_rounds(request(), {a, b});
  ASSERT_EQ(rounds.size(), 1U);
  // Blocks of ours, a call and rank: 3, 40, 5 us.
  EXPECT_EQ(rounds[0].average, Time{static_cast<std::int64_t>(5 * us)});
  EXPECT_EQ(rounds[0].least, Time{static_cast<std::int64_t>(3 * us)});
  ASSERT_EQ(rounds[0].raw.size(), 2U);
  EXPECT_EQ(rounds[0].raw[0].median, Time{static_cast<std::int64_t>(2 * us)});  // 2, 2, 200
  EXPECT_EQ(rounds[0].raw[0].wrong, 1);
  EXPECT_EQ(rounds[0].raw[1].median, Time{static_cast<std::int64_t>(2 * us)});  // 1, 2, 3
  EXPECT_EQ(rounds[0].raw[1].least, Time{static_cast<std::int64_t>(1 * us)});
}

TEST(RawTiming, LeavesOutARoundThatARankDidNotEnd) {
  const RankResult whole = rank_with({us, us, us, us, us, us, us, us, us}, {0, 0});
  RankResult half;
  half.values["round 0"] = {0.0, 0.0, 0.0};
  EXPECT_TRUE(timed_rounds(request(), {whole, half}).empty());
}

}  // namespace
}  // namespace pdsim
