// The ends of the waits in dumps that tell less than a whole ring, or more than one hang.

#include "tests/unit/pytorch/dumps.h"

#include <gtest/gtest.h>

#include <vector>

namespace pdsim::scenarios::pytorch {
namespace {

using Culprits = std::vector<Rank>;
constexpr EntryState scheduled = EntryState::scheduled;

std::vector<DumpScript> ranks_of(int count, int calls) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < count; ++r) ranks.push_back(DumpScript(r, count).calls(calls));
  return ranks;
}

TEST(PytorchHangs, KnowFromItsOwnAccountWhereARankStoppedThatListsNothing) {
  auto ranks = ranks_of(16, 20);
  for (Rank r = 0; r < 16; ++r) {
    DumpScript& rank = ranks[static_cast<std::size_t>(r)];
    if (r == 11) {
      rank.only_active(20, 20);
    } else {
      for (int i = 0; i < 3; ++i) rank.call("nccl:all_reduce", scheduled);
      rank.only_active(23, 20);
    }
  }
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{11});
  EXPECT_EQ(d->report.diagnosis()->waiting.size(), 15U);
}

TEST(PytorchHangs, AccuseNobodyWhereAnotherRankHasLeftTheCallThatSomeDoNotHaveYet) {
  auto ranks = ranks_of(4, 10);
  ranks[2].call("nccl:all_reduce", scheduled);
  ranks[3].call("nccl:all_reduce");  // done there, so ranks 0 and 1 made it after their dumps were written
  EXPECT_EQ(diagnosed(ranks)->id(), "");
  EXPECT_EQ(diagnosed(ranks)->report.outcome, Outcome::ok);
}

TEST(PytorchHangs, AccuseNobodyWhereEveryRankHasComeAndNothingTellsTheAge) {
  auto ranks = ranks_of(4, 10);
  for (DumpScript& rank : ranks) rank.call("nccl:all_reduce", scheduled);
  EXPECT_EQ(diagnosed(ranks)->id(), "");
  constexpr std::int64_t minute = 60'000'000'000;
  EXPECT_EQ(diagnosed(ranks, began_ns + 2 * minute)->id(), "all-stuck");  // by the times of the files
  EXPECT_EQ(diagnosed(ranks, began_ns + 60 * 24 * minute)->id(), "");     // which were copied
}

TEST(PytorchHangs, TakeACallThatWasAbortedForOneThatIsOpen) {
  auto ranks = ranks_of(4, 10);
  for (const std::size_t r : {0U, 1U, 2U}) {
    ranks[r].call("nccl:all_reduce");
    ranks[r].last().completed_ns = ranks[r].last().created_ns + 600'000'000'000;
  }
  EXPECT_EQ(diagnosed(ranks)->id(), "missing-call");
  EXPECT_EQ(diagnosed(ranks)->report.diagnosis()->ranks, Culprits{3});
}

TEST(PytorchHangs, NeverAccuseARankThatWaitsItself) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r)
    ranks.push_back(DumpScript(r, 4).group("1", "tp", {r / 2 * 2, r / 2 * 2 + 1}).calls(3).in("1", "tp"));
  ranks[2].call("nccl:all_gather", scheduled);  // for rank 3, and ranks 0 and 1 for both
  for (const std::size_t r : {0U, 1U}) ranks[r].in("0", "default_pg").call("nccl:all_reduce", scheduled);
  const auto d = diagnosed(ranks);
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{3});
  EXPECT_EQ(d->report.diagnosis()->waiting, (Culprits{0, 1, 2}));
}

// Gloo's, of a job in which rank 2 does not make the last call; all that was made is retired.
std::vector<DumpScript> gloo_without_rank_2(const std::string& last) {
  std::vector<DumpScript> ranks;
  for (Rank r = 0; r < 4; ++r) {
    ranks.push_back(DumpScript(r, 4).calls(10, "gloo:all_reduce"));
    if (r != 2) ranks.back().call(last);
    ranks.back().retire();
  }
  return ranks;
}

TEST(PytorchHangs, NameWhoDidNotComeToACallOfGloosThatFailedAtItsTimeout) {
  constexpr std::int64_t second = 1'000'000'000;
  const auto ranks = gloo_without_rank_2("gloo:all_reduce");
  const auto d = diagnosed(ranks, began_ns + 601 * second);  // their timeout is 600 s
  ASSERT_EQ(d->id(), "missing-call");
  EXPECT_EQ(d->report.diagnosis()->ranks, Culprits{2});
  EXPECT_NE(d->report.diagnosis()->why.find("The call is over on rank 0, but did not complete"), std::string::npos)
      << d->report.diagnosis()->why;
}

TEST(PytorchHangs, ConcludeNothingFromARetiredCallThatOneDumpLacks) {
  constexpr std::int64_t second = 1'000'000'000;
  const auto ranks = gloo_without_rank_2("gloo:all_reduce");
  EXPECT_EQ(diagnosed(ranks)->id(), "");                                   // the files tell no time
  EXPECT_EQ(diagnosed(ranks, began_ns + 5 * second)->id(), "");            // rank 2's dump is older
  EXPECT_EQ(diagnosed(ranks, began_ns + 900 * second)->id(), "");          // the files were copied
  const auto broadcast = gloo_without_rank_2("gloo:broadcast");            // its root does not wait
  EXPECT_EQ(diagnosed(broadcast, began_ns + 601 * second)->id(), "");
}

}  // namespace
}  // namespace pdsim::scenarios::pytorch
