// The gloo world end to end: one process per rank, real sockets, a real store file, records back in the launcher.

#include "scenarios/engine/real_world.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

using namespace literals;

RunRecord run(std::string_view what, int ranks = 2) {
  Scenario scenario;
  scenario.file = "none.yaml";
  scenario.variant = what;
  scenario.world.spec.ranks_per_node = ranks;
  RunOptions options;
  options.executable = PDSIM_GLOO_RANK;
  options.patience = 500_ms;
  Result<RunRecord> record = real_world("gloo")->run(scenario, options, {});
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

class GlooWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = real_world("gloo")->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

TEST_F(GlooWorld, AddsUpOverRealProcesses) {
  const RunRecord record = run("all_reduce", 3);
  ASSERT_EQ(record.ranks.size(), 3U);
  EXPECT_FALSE(record.deadlocked);
  for (const RankResult& rank : record.ranks) {
    EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    EXPECT_EQ(rank.values.at("sum"), std::vector<double>(4, 3.0));
  }
}

TEST_F(GlooWorld, UnlikeCollectivesAreADeadlockWithTheOpenCallsOfBothRanks) {
  const RunRecord record = run("barrier_against_all_reduce");
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  const Call& waits = record.ranks[0].log.calls.back();
  const Call& waits_too = record.ranks[1].log.calls.back();
  EXPECT_EQ(waits.name, "all_reduce");
  EXPECT_EQ(waits_too.name, "barrier");
  EXPECT_EQ(waits.state, CallState::started);
  EXPECT_EQ(waits.seq, 1);
  EXPECT_EQ(waits_too.seq, 1);
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

TEST_F(GlooWorld, RelaunchesInTheSameFolder) {
  const RunRecord record = run("relaunch");
  ASSERT_EQ(record.earlier.size(), 2U);
  EXPECT_EQ(record.earlier[1].log.launch, 1);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.launch, 2);
}

TEST_F(GlooWorld, AnUnusedLayerOnOneRankHangsBothAndTheReducerSaysWhatIsMissing) {
  const RunRecord record = run("unused_then_barrier");
  EXPECT_TRUE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.calls.back().name, "all_reduce");
  EXPECT_EQ(record.ranks[1].log.calls.back().name, "barrier");
  std::string missing;
  for (const Note& note : record.ranks[1].log.notes)
    if (note.kind == note_kind::bucket_unfilled) missing = fact(note.facts, "missing");
  EXPECT_EQ(missing, "aux.weight, aux.bias");
}

TEST_F(GlooWorld, AnUnusedLayerIsAnErrorAtTheNextForwardAndClosesThePeer) {
  const RunRecord record = run("unused_then_forward");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[1].log.error.code, Code::reduction_not_finished);
  EXPECT_EQ(record.ranks[0].log.error.code, Code::peer_closed) << record.ranks[0].log.error.message;
}

TEST_F(GlooWorld, FindUnusedParametersKeepsRanksEqual) {
  const RunRecord record = run("unused_found");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.end, RankEnd::returned) << record.ranks[0].log.error.message;
  EXPECT_EQ(record.ranks[0].values.at("aux.weight"), record.ranks[1].values.at("aux.weight"));
}

TEST_F(GlooWorld, FaultsOfTheNetworkAreRefusedWithTheirLine) {
  Scenario scenario;
  scenario.faults.push_back({});
  scenario.faults.back().spec.kind = "drop";
  scenario.faults.back().mark.line = 12;
  const Result<RunRecord> record = real_world("gloo")->run(scenario, {}, {});
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, Code::unsupported);
  EXPECT_NE(record.error().message.find("line 12"), std::string::npos);
}

TEST(RealWorld, MpiAndNcclSayInOneLineWhyNot) {
  for (const std::string_view name : {"mpi", "nccl"}) {
    const Availability here = real_world(name)->available();
    EXPECT_FALSE(here.yes);
    EXPECT_NE(here.reason.find(name), std::string::npos);
    EXPECT_EQ(here.reason.find('\n'), std::string::npos);
  }
  EXPECT_EQ(real_world("no-such-world"), nullptr);
}

}  // namespace
}  // namespace pdsim::scenarios
