// The mpi world end to end: mpirun for the slots, one process per rank, Open MPI's own rules where ranks disagree or die.

#include "tests/unit/real_world/world_run.h"

#include <filesystem>
#include <set>
#include <string>

namespace pdsim::scenarios {
namespace {

RunRecord run_on_mpi(std::string_view what, int ranks = 2) { return run_in("mpi", what, ranks); }

class MpiWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = real_world("mpi")->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

void expect_that_all_return(const RunRecord& record) {
  EXPECT_FALSE(record.deadlocked);
  for (const RankResult& rank : record.ranks)
    EXPECT_EQ(rank.log.end, RankEnd::returned) << "rank " << rank.log.rank << ": " << rank.log.error.message;
}

TEST_F(MpiWorld, ReceivesFromWhoeverComesFirst) { expect_that_all_return(run_on_mpi("any_source", 3)); }
TEST_F(MpiWorld, MatchesMessagesByTag) { expect_that_all_return(run_on_mpi("tags")); }
TEST_F(MpiWorld, KeepsOverlappingGroupsApart) { expect_that_all_return(run_on_mpi("subgroups", 3)); }
TEST_F(MpiWorld, HasGroupsOfOneRank) { expect_that_all_return(run_on_mpi("alone")); }
TEST_F(MpiWorld, AMessageLongerThanItsReceiveIsASizeMismatch) { expect_that_all_return(run_on_mpi("long_message")); }
TEST_F(MpiWorld, APlanThatWaitsInVainTimesOutAndTheNextOneToo) { expect_that_all_return(run_on_mpi("plan_timeout")); }
TEST_F(MpiWorld, MpiIsGivenUpWhereATimeoutLeavesASendUndone) {
  expect_that_all_return(run_on_mpi("large_plan_timeout"));
}
TEST_F(MpiWorld, ADestroyedGroupCancelsWhatRuns) { expect_that_all_return(run_on_mpi("destroyed")); }

TEST_F(MpiWorld, ItsOwnCollectiveWaitsForEverSoItIsADeadlock) {
  const RunRecord record = run_on_mpi("native_alone");
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.calls.back().name, "all_reduce");
  EXPECT_EQ(record.ranks[0].log.calls.back().state, CallState::started);
}

TEST_F(MpiWorld, ARankThatHangsIsADeadlock) {
  const RunRecord record = run_on_mpi("hangs", 3);
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 3U);
  for (const Rank waits : {0, 2})
    EXPECT_EQ(record.ranks[static_cast<std::size_t>(waits)].log.calls.back().name, "all_reduce");
  EXPECT_EQ(record.ranks[1].log.calls.back().name, "barrier");
}

TEST_F(MpiWorld, ARankThatDiesEndsTheJob) {
  const RunRecord record = run_on_mpi("dies", 3);
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 3U);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::rank_crashed) << record.ranks[1].log.error.message;
  for (const Rank other : {0, 2}) {
    const RankLog& log = record.ranks[static_cast<std::size_t>(other)].log;
    EXPECT_EQ(log.end, RankEnd::died);
    EXPECT_EQ(log.error.message, "the launcher ended the job because rank 1 had ended");
    EXPECT_EQ(log.calls.back().name, "all_reduce");
  }
}

TEST_F(MpiWorld, WhoRaisesEndsTheJob) {
  const RunRecord record = run_on_mpi("raise");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].log.end, RankEnd::raised);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::invalid_argument);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::cancelled) << record.ranks[0].log.error.message;
}

TEST_F(MpiWorld, ABarrierThatMeetsAnAllReduceReceivesTooMuch) {
  const RunRecord record = run_on_mpi("barrier_against_all_reduce");
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::size_mismatch) << record.ranks[1].log.error.message;
}

TEST_F(MpiWorld, DifferentCountsAreAnErrorWhereTheBufferIsTooSmall) {
  const RunRecord record = run_on_mpi("different_counts");
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::size_mismatch) << record.ranks[0].log.error.message;
}

std::set<std::string> left_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

TEST_F(MpiWorld, LeavesNoSharedMemoryBehind) {
  const std::string folder = "/dev/shm";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "this machine has no /dev/shm";
  const auto ours = [&] {
    std::set<std::string> names;
    for (const std::string& name : left_in(folder))
      if (name.find("segment") != std::string::npos || name.find("ompi") != std::string::npos) names.insert(name);
    return names;
  };
  const std::set<std::string> before = ours();
  (void)run_on_mpi("all_reduce");
  (void)run_on_mpi("dies");
  EXPECT_EQ(ours(), before);
}

}  // namespace
}  // namespace pdsim::scenarios
