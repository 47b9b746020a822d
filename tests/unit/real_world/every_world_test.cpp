// What holds in every real world: one process per rank, a real store, records back in the launcher.

#include "scenarios/reports/text/text_report.h"
#include "scenarios/run/analyse.h"
#include "scenarios/worlds/worlds.h"
#include "tests/unit/real_world/world_run.h"

#include <string>

namespace pdsim::scenarios {
namespace {

using namespace literals;

class EveryRealWorld : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override {
    if (const Availability here = real_world(GetParam())->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
};

TEST_P(EveryRealWorld, AddsUpOverRealProcesses) {
  const RunRecord record = run_in(GetParam(), "all_reduce", 3);
  ASSERT_EQ(record.ranks.size(), 3U);
  EXPECT_FALSE(record.deadlocked);
  for (const RankResult& rank : record.ranks) {
    EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
    EXPECT_EQ(rank.values.at("sum"), std::vector<double>(4, 3.0));
  }
}

TEST_P(EveryRealWorld, DoesItselfWhatTheTableOfCapabilitiesSays) {
  const RunRecord record = run_in(GetParam(), "capabilities");
  ASSERT_EQ(record.ranks.size(), 2U);
  for (const RankResult& rank : record.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

TEST_P(EveryRealWorld, RefusesWrongAlgorithmsOfTheCallersOwn) {
  const RunRecord record = run_in(GetParam(), "own_algorithms");
  ASSERT_EQ(record.ranks.size(), 2U);
  for (const RankResult& rank : record.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

TEST_P(EveryRealWorld, ShardedAndSplitModelsEndAsUnderDdp) {
  if (GetParam() == "nccl") GTEST_SKIP() << "its tensors would have to be on GPUs";
  const RunRecord record = run_in(GetParam(), "sharded", 4, 20_s);
  ASSERT_EQ(record.ranks.size(), 4U);
  for (const RankResult& rank : record.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

TEST_P(EveryRealWorld, RelaunchesInTheSameFolder) {
  const RunRecord record = run_in(GetParam(), "relaunch");
  ASSERT_EQ(record.earlier.size(), 2U);
  EXPECT_EQ(record.earlier[1].log.launch, 1);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.launch, 2);
}

TEST_P(EveryRealWorld, FindUnusedParametersKeepsRanksEqual) {
  const RunRecord record = run_in(GetParam(), "unused_found");
  EXPECT_FALSE(record.deadlocked);
  ASSERT_EQ(record.ranks.size(), 2U);
  EXPECT_EQ(record.ranks[0].log.end, RankEnd::returned) << record.ranks[0].log.error.message;
  EXPECT_EQ(record.ranks[0].values.at("aux.weight"), record.ranks[1].values.at("aux.weight"));
}

// At once, and not when nothing has moved for the patience, which would be a deadlock.
TEST_P(EveryRealWorld, NamesTheRankAndTheSignalThatEndedItWheneverThatWas) {
  const Scenario scenario = scenario_of("none", 2);
  for (const std::string point : {"at_start", "before_init", "in_init", "in_a_call", "after", "at_the_end"}) {
    const RunRecord record = run_in(GetParam(), "killed_" + point);
    ASSERT_EQ(record.ranks.size(), 2U);
    EXPECT_FALSE(record.deadlocked) << point;
    EXPECT_EQ(record.ranks[1].log.end, RankEnd::died) << point;
    const Report report = analyse(scenario, record, RunWorld(GetParam()));
    SCOPED_TRACE(point + "\n" + render_text({report}, {}));
    EXPECT_EQ(report.outcome, Outcome::error);
    ASSERT_TRUE(report.diagnosis() != nullptr);
    EXPECT_EQ(report.diagnosis()->id, "rank-died");
    EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
    EXPECT_NE(report.diagnosis()->headline.find("died by signal 9"), std::string::npos);
  }
}

TEST_P(EveryRealWorld, FaultsOfTheNetworkAreRefusedWithTheirLine) {
  Scenario scenario;
  scenario.faults.push_back({});
  scenario.faults.back().spec.kind = FaultKind::drop;
  scenario.faults.back().mark.line = 12;
  const Result<RunRecord> record = real_world(GetParam())->run(scenario, {}, {});
  ASSERT_FALSE(record.ok());
  EXPECT_EQ(record.error().code, Code::unsupported);
  EXPECT_NE(record.error().message.find("line 12"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Real, EveryRealWorld, ::testing::Values("gloo", "mpi", "nccl"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(RealWorlds, SayInOneLineWhyNot) {
  for (const WorldRow& row : worlds()) {
    if (row.kind != WorldKind::real) continue;
    const Availability here = real_world(row.name)->available();
    EXPECT_EQ(here.yes, here.reason.empty()) << row.name << ": " << here.reason;
    EXPECT_EQ(here.reason.find('\n'), std::string::npos);
    if (here.yes) continue;
    Scenario scenario;
    const Result<RunRecord> record = real_world(row.name)->run(scenario, {}, {});
    ASSERT_FALSE(record.ok());
    EXPECT_EQ(record.error().code, Code::unavailable);
    EXPECT_EQ(record.error().message, here.reason);
  }
  EXPECT_EQ(real_world("no-such-world"), nullptr);
}

}  // namespace
}  // namespace pdsim::scenarios
