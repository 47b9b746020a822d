// The gloo world end to end: one process per rank, real sockets, a real store file, records back in the launcher.

#include "tests/unit/real_world/world_run.h"

namespace pdsim::scenarios {
namespace {

RunRecord run(std::string_view what) { return run_in("gloo", what); }

class GlooWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = real_world("gloo")->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

TEST_F(GlooWorld, UnlikeCollectivesAreADeadlockWithTheOpenCallsOfBothRanks) {
  const RunRecord record = run("barrier_against_all_reduce");
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  const Call& waits = record.ranks[0].log.calls.back();
  const Call& waits_too = record.ranks[1].log.calls.back();
  EXPECT_EQ(waits.name, "all_reduce");
  EXPECT_EQ(waits_too.name, "barrier");
  EXPECT_EQ(waits.state, CallState::started);
  EXPECT_EQ(waits.seq, 2);
  EXPECT_EQ(waits_too.seq, 2);
}

TEST_F(GlooWorld, WhoRaisesClosesTheConnectionsOfTheOthers) {
  const RunRecord record = run("raise");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::invalid_argument);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::peer_closed) << record.ranks[0].log.error.message;
}

TEST_F(GlooWorld, DifferentCountsCostAProcess) {
  const RunRecord record = run("different_counts");
  bool aborted = false;
  for (const RankResult& rank : record.ranks)
    aborted = aborted || (rank.log.end == RankEnd::died && rank.log.error.code == Code::process_aborted);
  EXPECT_TRUE(aborted);
}

TEST_F(GlooWorld, AnUnusedLayerOnOneRankHangsBothAndTheReducerSaysWhatIsMissing) {
  const RunRecord record = run("unused_then_barrier");
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.calls.back().name, "all_reduce");
  EXPECT_EQ(record.ranks[1].log.calls.back().name, "barrier");
  std::vector<std::string> missing;
  for (const Note& note : record.ranks[1].log.notes)
    if (note.is<notes::BucketUnfilled>()) missing = note.as<notes::BucketUnfilled>().missing;
  EXPECT_EQ(missing, (std::vector<std::string>{"aux.weight", "aux.bias"}));
}

TEST_F(GlooWorld, AnUnusedLayerIsAnErrorAtTheNextForwardAndClosesThePeer) {
  const RunRecord record = run("unused_then_forward");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::reduction_not_finished);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::peer_closed) << record.ranks[0].log.error.message;
}

}  // namespace
}  // namespace pdsim::scenarios
