#include "scenarios/diagnosis/analysis/wait_graph.h"

#include "scenarios/diagnosis/analysis/wait_circle.h"

#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

std::vector<BlockedRank> blocked(const std::vector<RankScript>& scripts) {
  return blocked_ranks(run_of(scripts), Time::max(), true);
}

std::vector<RankScript> world(int ranks) {
  std::vector<RankScript> scripts;
  for (Rank r = 0; r < ranks; ++r) scripts.emplace_back(r);
  return scripts;
}

TEST(WaitGraph, ABarrierWaitsForEveryMemberThatHasNotCome) {
  auto scripts = world(4);
  scripts[0].collective("barrier", "", true);
  scripts[1].collective("barrier", "", true);
  scripts[2].message("recv", 0, true);
  scripts[3].returns();
  const auto b = blocked(scripts);
  ASSERT_EQ(b.size(), 3U);
  EXPECT_EQ(awaited_ranks(b[0]), (std::vector<Rank>{2, 3}));
  EXPECT_EQ(awaited_ranks(b[1]), (std::vector<Rank>{2, 3}));
  EXPECT_EQ(awaited_ranks(b[2]), std::vector<Rank>{0});
  EXPECT_EQ(wait_cycle(b), (std::vector<Rank>{0, 2}));
}

TEST(WaitGraph, ABroadcastWaitsForItsRootAndTheRootForItsReceivers) {
  auto scripts = world(3);
  scripts[1].collective("broadcast", "", true);
  scripts[2].collective("broadcast", "", true);
  scripts[0].returns();
  EXPECT_EQ(awaited_ranks(blocked(scripts)[0]), std::vector<Rank>{0});
  EXPECT_EQ(blocked(scripts)[0].why, "which ended without calling it");

  auto rooted = world(3);
  rooted[0].collective("broadcast", "", true);
  rooted[1].collective("broadcast");
  rooted[1].returns();
  rooted[2].collective("barrier", "", true);
  const auto b = blocked(rooted);
  EXPECT_EQ(awaited_ranks(b[0]), std::vector<Rank>{2});
  EXPECT_EQ(b[0].why, "which called barrier instead");
}

TEST(WaitGraph, AnySourceNeedsOnlyOneOfTheOthers) {
  auto scripts = world(3);
  scripts[0].message("recv", any_source, true);
  scripts[1].message("recv", 0, true);
  scripts[2].returns();
  const auto b = blocked(scripts);
  EXPECT_TRUE(b[0].any);
  EXPECT_EQ(awaited_ranks(b[0]), (std::vector<Rank>{1, 2}));
  EXPECT_EQ(never_released(b, {2}, 3), (std::vector<Rank>{0, 1}));
}

TEST(WaitGraph, SaysWhetherTheOtherSideOfAMessageWasCalled) {
  auto scripts = world(3);
  scripts[0].message("send", 1, true);
  scripts[1].message("recv", 0, true);
  scripts[2].message("send", 1, true);
  const auto b = blocked(scripts);
  EXPECT_EQ(b[0].why, "which has called recv for it");
  EXPECT_EQ(b[1].why, "which has called send for it");
  EXPECT_EQ(b[2].why, "which does not receive it");
}

TEST(WaitGraph, APeerThatIsNotRecordedIsNotJustAnybody) {
  for (const char* name : {"send", "recv"}) {
    auto scripts = world(3);
    scripts[0].message(name, no_rank, true);
    const auto b = blocked_ranks(run_of(scripts), Time::max(), false);
    ASSERT_EQ(b.size(), 1U) << name;
    EXPECT_FALSE(b[0].any) << name;
    EXPECT_TRUE(b[0].awaits_nobody()) << name;
    EXPECT_EQ(b[0].why, "its peer is not recorded") << name;
  }
}

TEST(WaitGraph, WhoWaitsForARankThatStillWorksIsReleased) {
  auto scripts = world(4);
  scripts[0].message("recv", any_source, true);
  scripts[1].message("recv", 2, true);
  scripts[3].message("recv", 3, true);
  const auto b = blocked_ranks(run_of(scripts), Time::max(), false);
  ASSERT_EQ(b.size(), 3U);
  EXPECT_EQ(never_released(b, {}, 4), std::vector<Rank>{3});
}

TEST(WaitGraph, AllOfACircleAreInIt) {
  auto scripts = world(6);
  for (Rank r = 0; r < 6; ++r) scripts[static_cast<std::size_t>(r)].message("recv", r == 5 ? 2 : r + 1, true);
  const auto b = blocked(scripts);
  EXPECT_EQ(wait_cycle(b), (std::vector<Rank>{2, 3, 4, 5}));
  EXPECT_EQ(never_released(b, {}, 6).size(), 6U);
}

TEST(WaitGraph, AStoreCallIsNamedAfterTheOperationThatMadeIt) {
  auto scripts = world(2);
  scripts[0].site("init_process_group").enter("init_process_group").store("rank_1", true);
  scripts[1].returns();
  const auto b = blocked(scripts);
  ASSERT_EQ(b.size(), 1U);
  EXPECT_EQ(b[0].in, "init_process_group");
  EXPECT_EQ(awaited_ranks(b[0]), std::vector<Rank>{1});
  EXPECT_EQ(b[0].why, "which never sets the key rank_1");
}

TEST(WaitGraph, ACallThatAWatchdogEndedAfterTheDeadlockStillCounts) {
  auto scripts = world(2);
  scripts[0].collective("barrier", "", true);
  const Time moment = scripts[0].now();
  scripts[0].wait({30'000'000'000'000}).raises(Code::timeout);
  scripts[1].returns();
  EXPECT_EQ(blocked_ranks(run_of(scripts), moment, true).size(), 1U);
  EXPECT_TRUE(blocked_ranks(run_of(scripts), Time::max(), true).empty());
}

TEST(WaitGraph, AMillionEdgesAreNotListedForOneMissingRank) {
  auto scripts = world(2000);
  for (Rank r = 1; r < 2000; ++r) scripts[static_cast<std::size_t>(r)].collective("all_reduce", "", true);
  scripts[0].returns();
  const auto b = blocked(scripts);
  ASSERT_EQ(b.size(), 1999U);
  for (const BlockedRank& one : b) ASSERT_EQ(awaited_ranks(one), std::vector<Rank>{0});
  EXPECT_TRUE(wait_cycle(b).empty());
}

}  // namespace
}  // namespace pdsim::scenarios
