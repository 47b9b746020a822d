#include "scenarios/reports/text/text_parts.h"
#include "scenarios/run/analyse.h"
#include "scenarios/run/expectations.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

class Expectations : public testing::Test {
 protected:
  Expectations() {
    hang_ = train({});
    hang_[1].site("barrier", -1, 28, 5).enter("barrier").collective("barrier", "", true);
    scenario_.expect.outcome = {Outcome::deadlock, {30, 5, 3}};
    scenario_.expect.diagnosis = Located<std::string>{"unused-parameters", {31, 5, 3}};
    scenario_.expect.blocked = {{IntSet::of({0}), "all_reduce", "", IntSet::of({2}), {32, 7, 1}},
                                {IntSet::of({1}), "barrier", "", std::nullopt, {33, 7, 1}}};
  }
  Report checked(const std::vector<RankScript>& scripts) {
    Report report = analyse(scenario_, run_of(scripts));
    report.references[Reference::single_process] = alone_;
    check_expectations(report);
    return report;
  }
  TensorValues alone_;
  Scenario scenario_ = scenario_of(2);
  std::vector<RankScript> hang_;
};

TEST_F(Expectations, HoldWhereTheyShould) {
  const Report report = checked(hang_);
  EXPECT_EQ(report.verdict, Verdict::pass) << (report.failures.empty() ? "" : report.failures[0].got);
}

TEST_F(Expectations, AnotherOutcomePointsIntoTheFile) {
  for (RankScript& s : hang_) s.returns();
  const Report report = checked(hang_);
  EXPECT_EQ(report.verdict, Verdict::fail);
  EXPECT_EQ(report.failures.front().expected, "outcome: deadlock");
  EXPECT_EQ(report.failures.front().mark.line, 30);
}

TEST_F(Expectations, FailWhenTheCauseIsAnother) {
  scenario_.expect.diagnosis->value = "collective-mismatch";
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);
  scenario_.expect.diagnosis->value = "none";
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);
}

TEST_F(Expectations, BlockedRanksMustBeCoveredExactly) {
  const std::vector<ExpectBlocked> good = scenario_.expect.blocked;
  scenario_.expect.blocked = {good[0]};
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);  // rank 1 is blocked too
  scenario_.expect.blocked = good;
  scenario_.expect.blocked[0].step = IntSet::of({1});
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);
  scenario_.expect.blocked = good;
  scenario_.expect.blocked[1].in = "broadcast";
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);
  scenario_.expect.blocked = good;
  hang_[1].returns();
  EXPECT_EQ(checked(hang_).verdict, Verdict::fail);  // rank 1 is listed and ended
}

TEST_F(Expectations, OfAnErrorCheckRankStepCodePlaceAndMessage) {
  std::vector<RankScript> scripts = train({});
  scripts[1].site("train", 3).enter("forward").raises(Code::reduction_not_finished, "the last backward left a bucket");
  scripts[0].raises(Code::peer_closed, "gone");
  scenario_.expect = {};
  Expect& e = scenario_.expect;
  e.outcome.value = Outcome::error;
  e.rank = Located<IntSet>{IntSet::of({1}), {}};
  e.step = Located<IntSet>{IntSet::of({3}), {}};
  e.error = Located<std::string>{"reduction-not-finished", {}};
  e.message = Located<std::string>{"left a bucket", {}};
  e.in = Located<std::string>{"forward", {}};
  const Report good = checked(scripts);
  EXPECT_EQ(good.verdict, Verdict::pass) << (good.failures.empty() ? "" : good.failures[0].got);
  const Expect held = e;
  e.rank->value = IntSet::all();
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  e = held, e.step->value = IntSet::of({2});
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  e = held, e.error->value = "timeout";
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  e = held, e.message->value = "right a bucket";
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  e = held, e.in->value = "eval";
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
}

TEST_F(Expectations, ValuesAreComparedBitForBit) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  scripts[0].returns().value("w", {1.0, 2.0}).value("loss", {0.25});
  scripts[1].returns().value("w", {1.0, 2.0 + 4e-16}).value("loss", {0.25});
  alone_ = {{"w", {1.0, 2.0}}};
  scenario_.expect = {};
  ExpectValue across{"w", {}, "equal", {}, {}, 0.0, {}};
  const auto verdict = [&](const ExpectValue& value) {
    scenario_.expect.values = {value};
    return checked(scripts).verdict;
  };
  EXPECT_EQ(verdict(across), Verdict::fail);
  across.across_ranks = "differ";
  EXPECT_EQ(verdict(across), Verdict::pass);
  ExpectValue single{"w", {}, "", {}, {}, 0.0, Reference::single_process};
  EXPECT_EQ(verdict(single), Verdict::fail);
  single.tolerance = 1e-12;
  EXPECT_EQ(verdict(single), Verdict::pass);
  single.tolerance = 0.0;
  single.rank = 0;
  EXPECT_EQ(verdict(single), Verdict::pass);
  single.equals = Reference::one_batch;  // which was not run
  EXPECT_EQ(verdict(single), Verdict::fail);
  EXPECT_EQ(verdict({"loss", {}, "", 0, 0.2500001, 1e-6, {}}), Verdict::pass);
  EXPECT_EQ(verdict({"loss", {}, "", 0, 0.26, 1e-6, {}}), Verdict::fail);
  EXPECT_EQ(verdict({"nothing", {}, "equal", {}, {}, 0.0, {}}), Verdict::fail);
}

// Over sockets a rank may see its peer leave, and write that down, before the peer has written down why it left.
TEST_F(Expectations, SpeakOfTheCauseAlsoWhereItsConsequenceWasNotedFirst) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  scripts[0].raises(Code::peer_closed);
  scripts[1].wait({1'000'000}).raises(Code::reduction_not_finished);
  scenario_.expect = {};
  scenario_.expect.outcome = {Outcome::error, {}};
  scenario_.expect.rank = Located<IntSet>{IntSet::of({1}), {}};
  const Report report = checked(scripts);
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(outcome_sentence(report), "rank 1 raised");
}

TEST_F(Expectations, ATimeNearToASimulatedOneIsNotAskedOfARealWorld) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  scripts[0].wait({4'838'000'000}).returns();
  scripts[1].returns();
  const auto verdict_on = [&](const char* world) {
    Report report = analyse(scenario_, run_of(scripts), RunWorld(world));
    check_expectations(report);
    return report.verdict;
  };
  scenario_.expect = {};
  scenario_.expect.time = Expect::TimeRange{{}, {}, Time{1'000'000'000}, 0.001, {}};
  EXPECT_EQ(verdict_on("sim"), Verdict::fail);
  EXPECT_EQ(verdict_on("gloo"), Verdict::pass);
  scenario_.expect.time = Expect::TimeRange{{}, Time{1'000'000'000}, {}, 0.0, {}};
  EXPECT_EQ(verdict_on("gloo"), Verdict::fail);
}

TEST_F(Expectations, TimeIsThatOfTheEnd) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  scripts[0].wait({4'838'000'000}).returns();
  scripts[1].returns();
  scenario_.expect = {};
  scenario_.expect.time = Expect::TimeRange{Time{4'000'000'000}, Time{5'000'000'000}, Time{4'840'000'000}, 0.001, {}};
  EXPECT_EQ(checked(scripts).verdict, Verdict::pass);
  scenario_.expect.time->within = 1e-6;
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  scenario_.expect.time = Expect::TimeRange{Time{4'839'000'000}, {}, {}, 0.0, {}};
  EXPECT_EQ(checked(scripts).verdict, Verdict::fail);
  scenario_.expect.time = Expect::TimeRange{{}, Time{4'837'999'999}, {}, 0.0, {}};
  const Report close = checked(scripts);
  ASSERT_EQ(close.failures.size(), 1U);
  EXPECT_EQ(close.failures[0].expected, "time: max 4837999999ps");
  EXPECT_EQ(close.failures[0].got, "4838000000ps");
}

TEST_F(Expectations, ARealWorldMayHaveItsOwnOrBeSkippedWithAReason) {
  scenario_.real["gloo"].skip = true;
  scenario_.real["gloo"].why = "real sockets have no seed";
  Report report = analyse(scenario_, run_of(hang_), RunWorld("gloo"));
  check_expectations(report);
  EXPECT_EQ(report.verdict, Verdict::skip);
  scenario_.real["gloo"].skip = false;
  scenario_.real["gloo"].expect = Expect{};
  report.verdict = Verdict::pass;
  check_expectations(report);
  EXPECT_EQ(report.verdict, Verdict::fail);
}

}  // namespace
}  // namespace pdsim::scenarios
