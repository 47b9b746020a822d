// What a report says of single ranks is what they did: since when, in which call, who gave up, what pairs.
#include "scenarios/language/loader.h"
#include "scenarios/records/log_view.h"
#include "scenarios/reports/json/findings_json.h"
#include "scenarios/reports/json/json_report.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/reports/text/text_timeline.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/unit/report/run_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

class FactsOfReports : public testing::Test {
 protected:
  const Report& report_of_catalog(const std::string& file, const std::string& variant) {
    file_ = load_file(fmt::format("{}/scenarios/catalog/{}.yaml", PDSIM_SOURCE_DIR, file)).value();
    std::string problem;
    for (const Scenario& s : file_.variants)
      if (s.variant == variant) report_ = run_scenario(s, *world_named("sim", problem), {}).value();
    return report_;
  }
  const Report& report_of_scripts(const std::vector<RankScript>& scripts) {
    scenario_ = scenario_of(static_cast<int>(scripts.size()));
    report_ = analyse(scenario_, run_of(scripts));
    return report_;
  }

 private:
  LoadedFile file_;
  Scenario scenario_ = scenario_of(2);
  Report report_;
};

// The row of the timeline that is labelled so.
std::string row_named(const std::string& picture, const std::string& label) {
  const std::size_t at = picture.find("  " + label + " ");
  return at == std::string::npos ? "no row " + label + " in:\n" + picture
                                 : picture.substr(at, picture.find('\n', at) - at);
}

TEST_F(FactsOfReports, ARankThatStoppedInALongOperationDidWhatItDidBefore) {
  const Report& report = report_of_catalog("rank_hangs", "broken");
  const std::string row = row_named(timeline(report), "rank 1");
  EXPECT_NE(row.find("FFFFBBBBBBBBRRRROORRFFFF..."), std::string::npos) << row;
  ASSERT_EQ(report.blocked.size(), 3U);
  EXPECT_EQ(to_string(report.blocked[1].since), "145us") << "when the forward of step 1 had ended";
  const std::string states = state_section(report);
  EXPECT_NE(states.find("train (stopped)  "), std::string::npos) << states;
  EXPECT_NE(states.find("  145us\n"), std::string::npos) << states;
}

TEST_F(FactsOfReports, ACallOfARunIsInThePhaseOfItsOperation) {
  const Report& report = report_of_catalog("unused_params", "broken");
  ASSERT_EQ(report.blocked.size(), 2U);
  EXPECT_EQ(report.blocked[0].phase, Phase::backward);
  EXPECT_EQ(report.blocked[1].phase, Phase::none) << "a barrier is in no phase of the training";
  const std::string states = state_section(report);
  EXPECT_NE(states.find("all_reduce  backward  8 "), std::string::npos) << states;
  EXPECT_NE(render_json({report}).find("\"phase\":\"backward\""), std::string::npos);
  EXPECT_NE(render_findings(report).find("\"phase\":\"backward\""), std::string::npos) << render_findings(report);
}

TEST_F(FactsOfReports, ARankWithoutProgramCallsIsOutsideSinceItsLastCall) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  for (RankScript& s : scripts) s.collective("all_reduce");
  scripts[0].wait({90'000'000}).collective("all_reduce", "", true);
  const Time last = scripts[1].now();
  ASSERT_GT(last, Time{});
  const RankState state = state_at(report_of_scripts(scripts).run.ranks[1].log, Time::max());
  EXPECT_EQ(state.kind, RankState::Kind::between_calls);
  ASSERT_TRUE(state.since);
  EXPECT_EQ(*state.since, last);
  const std::string states = state_section(report_of_scripts(scripts));
  EXPECT_EQ(states.find(" 0ns"), std::string::npos) << states;
}

TEST_F(FactsOfReports, ARankThatGaveUpIsNotBlockedAfterwards) {
  const Report& report = report_of_catalog("slow_checkpoint", "broken");
  const std::string picture = timeline(report);
  const std::string late = row_named(picture, "rank 0"), waited = row_named(picture, "ranks 1, 2");
  EXPECT_EQ(late.find('.'), std::string::npos) << "it waited for nobody:\n" << picture;
  EXPECT_NE(waited.find("R..."), std::string::npos) << picture;
  EXPECT_LT(waited.size(), late.size()) << "they gave up at 1s, and rank 0 came at 1.6s:\n" << picture;
}

TEST_F(FactsOfReports, WorkBesideABucketThatIsOpenIsNoWaiting) {
  std::vector<RankScript> scripts = train({2, {}, 9, 1});
  for (RankScript& s : scripts) s.site("train", 1, 27, 5).enter("backward").wait({50'000'000});
  scripts[0].collective("all_reduce", "bucket 0", true).wait({50'000'000}).collective("all_reduce", "bucket 1", true);
  const Time last = scripts[0].last().issued;
  const RankState state = state_at(report_of_scripts(scripts).run.ranks[0].log, Time::max());
  ASSERT_NE(state.call, nullptr);
  EXPECT_EQ(text_of(state.call->purpose), "bucket 0") << "which it waits for first";
  ASSERT_TRUE(state.since);
  EXPECT_EQ(*state.since, last) << "when it had launched bucket 1";
}

TEST_F(FactsOfReports, AllWhoGaveUpOneCallAreNamedAndWorkIsNamedOnce) {
  const Report& report = report_of_catalog("slow_checkpoint", "broken");
  ASSERT_TRUE(report.diagnosis());
  EXPECT_NE(report.diagnosis()->headline.find("ranks 1, 2 gave up all_reduce"), std::string::npos)
      << report.diagnosis()->headline;
  EXPECT_EQ(report.diagnosis()->why.find("in compute in compute"), std::string::npos) << report.diagnosis()->why;
  EXPECT_NE(report.diagnosis()->why.find("rank 0 was still in `compute` when the timeout expired"), std::string::npos)
      << report.diagnosis()->why;
}

bool says_that_later_calls_mismatch(const Report& report) {
  return report.diagnosis() && report.diagnosis()->why.find("Every later call") != std::string::npos;
}

TEST_F(FactsOfReports, OnlyACallMoreOrLessMakesLaterCallsMeetOthers) {
  for (const char* variant : {"nccl", "mpi", "other_dtype"}) {
    const Report& report = report_of_catalog("different_counts", variant);
    ASSERT_TRUE(report.diagnosis()) << variant;
    EXPECT_EQ(report.diagnosis()->id, "parameter-mismatch") << variant;
    EXPECT_FALSE(says_that_later_calls_mismatch(report)) << variant;
    EXPECT_EQ(report.diagnosis()->why.find("pairs wrongly"), std::string::npos) << variant;
  }
  EXPECT_FALSE(says_that_later_calls_mismatch(report_of_catalog("swapped_collectives", "mpi")))
      << "after two calls in the other order the third ones meet";

  std::vector<RankScript> scripts{RankScript(0), RankScript(1), RankScript(2)};
  for (RankScript& s : scripts) s.collective("all_reduce");
  scripts[0].collective("broadcast");  // which the others leave out
  for (RankScript& s : scripts) s.collective("barrier");
  for (RankScript& s : scripts) s.returns();
  const Report& report = report_of_scripts(scripts);
  ASSERT_TRUE(report.diagnosis());
  EXPECT_EQ(report.diagnosis()->id, "collective-mismatch");
  EXPECT_TRUE(says_that_later_calls_mismatch(report)) << report.diagnosis()->why;
}

TEST_F(FactsOfReports, RanksThatWaitForEachOtherInOneCallAreOneRow) {
  std::vector<RankScript> scripts;
  for (Rank r = 0; r < 512; ++r) scripts.emplace_back(r).collective("all_reduce", "", true);
  const std::string waits = waits_section(report_of_scripts(scripts));
  EXPECT_NE(waits.find("ranks 0..511 --all_reduce #1--> another of ranks 0..511   whose messages did not arrive\n"),
            std::string::npos)
      << waits;
  EXPECT_EQ(std::count(waits.begin(), waits.end(), '\n'), 3) << waits;
}

}  // namespace
}  // namespace pdsim::scenarios
