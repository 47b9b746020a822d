// The diagnosis on records of real Gloo processes: it must say what it says of simulated ones.

#include "scenarios/records/record_json.h"
#include "scenarios/reports/text/text_report.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/run/analyse.h"
#include "scenarios/worlds/real_world.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

using namespace literals;

class RealDiagnosis : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const Availability here = real_world("gloo")->available(); !here.yes) GTEST_SKIP() << here.reason;
  }
  Report report_of(std::string_view what, int ranks) {
    scenario_.file = "none.yaml";
    scenario_.name = "none";
    scenario_.variant = what;
    scenario_.world.spec.ranks_per_node = ranks;
    RunOptions options;
    options.executable = PDSIM_WORLD_RANK;
    options.rank_command = {"rank", "gloo", std::string(what)};
    options.patience = 500_ms;
    Result<RunRecord> record = real_world("gloo")->run(scenario_, options, {});
    EXPECT_TRUE(record.ok()) << record.error().message;
    return analyse(scenario_, record.ok() ? std::move(*record) : RunRecord{}, RunWorld("gloo"));
  }
  Scenario scenario_;
};

TEST_F(RealDiagnosis, NamesTheMinorityOfARealMismatch) {
  const Report report = report_of("barrier_against_all_reduce", 3);
  EXPECT_EQ(report.outcome, Outcome::deadlock);
  ASSERT_TRUE(report.diagnosis() != nullptr) << render_text({report}, {});
  EXPECT_EQ(report.diagnosis()->id, "collective-mismatch");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
  ASSERT_EQ(report.blocked.size(), 3U);
  EXPECT_EQ(report.blocked[1].in, "barrier");
  EXPECT_EQ(awaited_ranks(report.blocked[0]), std::vector<Rank>{1});
  EXPECT_EQ(report.cycle, (std::vector<Rank>{0, 1}));
}

TEST_F(RealDiagnosis, NamesTheRankWhoseErrorTheOthersOnlyFeel) {
  const Report report = report_of("raise", 3);
  EXPECT_EQ(report.outcome, Outcome::error);
  ASSERT_TRUE(report.diagnosis() != nullptr) << render_text({report}, {});
  EXPECT_EQ(report.diagnosis()->id, "rank-died");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
}

TEST_F(RealDiagnosis, NamesTheLastCallOfARankThatWasKilled) {
  const Report outside = report_of("dies", 3);
  ASSERT_TRUE(outside.diagnosis() != nullptr) << render_text({outside}, {});
  EXPECT_EQ(outside.diagnosis()->id, "rank-died");
  EXPECT_EQ(outside.diagnosis()->ranks, std::vector<Rank>{1});
  EXPECT_NE(outside.diagnosis()->why.find("Its last call was barrier #1 of group world, which was done."),
            std::string::npos)
      << outside.diagnosis()->why;
  const Report inside = report_of("dies_inside", 3);
  ASSERT_TRUE(inside.diagnosis() != nullptr) << render_text({inside}, {});
  EXPECT_EQ(inside.diagnosis()->id, "rank-died");
  EXPECT_NE(inside.diagnosis()->why.find("Its last call was recv of group world, which was not done."),
            std::string::npos)
      << inside.diagnosis()->why;
}

TEST_F(RealDiagnosis, HasNothingToSayAboutARunThatWentWell) {
  const Report report = report_of("all_reduce", 2);
  EXPECT_EQ(report.outcome, Outcome::ok);
  EXPECT_FALSE(report.diagnosis() != nullptr);
  EXPECT_FALSE(report.divergence.has_value());
}

TEST_F(RealDiagnosis, ASavedRecordTellsTheSame) {
  const Report report = report_of("barrier_against_all_reduce", 2);
  Result<SavedRun> saved = run_from_jsonl(events_jsonl(report.run));
  ASSERT_TRUE(saved.ok()) << saved.error().message;
  const Report again = analyse(scenario_, std::move(saved->run), RunWorld("gloo"));
  ASSERT_TRUE(again.diagnosis() != nullptr);
  EXPECT_EQ(again.diagnosis()->headline, report.diagnosis()->headline);
}

}  // namespace
}  // namespace pdsim::scenarios
