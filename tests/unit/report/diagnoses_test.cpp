#include "scenarios/diagnosis/diagnoses.h"

#include "scenarios/language/diagnosis_ids.h"
#include "scenarios/run/analyse.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

class Diagnoses : public testing::Test {
 protected:
  Report report_of(const std::vector<RankScript>& scripts) {
    scenario_ = scenario_of(static_cast<int>(scripts.size()));
    return analyse(scenario_, run_of(scripts));
  }
  Scenario scenario_;
};

TEST_F(Diagnoses, UnusedParametersHangNamesTheRankThatSkippedWhateverTheWorld) {
  for (const int ranks : {2, 3, 5, 8}) {
    for (Rank culprit = 0; culprit < ranks; ++culprit) {
      for (const int bad_bucket : {0, 2}) {
        Training t{ranks, {culprit}, 1, 2, 3, bad_bucket, {"odd.name"}, false, culprit % 2 == 0};
        std::vector<RankScript> scripts = train(t);
        scripts[static_cast<std::size_t>(culprit)].site("barrier").enter("barrier").collective("barrier", "", true);
        const Report report = report_of(scripts);
        ASSERT_EQ(report.outcome, Outcome::deadlock);
        ASSERT_EQ(id_of(report), "unused-parameters");
        EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{culprit});
        EXPECT_EQ(report.diagnosis()->parameters, std::vector<std::string>{"odd.name"});
        EXPECT_NE(report.diagnosis()->inevitable.find("step 1"), std::string::npos);
        EXPECT_NE(report.diagnosis()->cause.find("bucket " + std::to_string(bad_bucket)), std::string::npos);
      }
    }
  }
}

TEST_F(Diagnoses, UnusedParametersRaiseAtTheNextForward) {
  std::vector<RankScript> scripts = train({});
  scripts[1].site("train", 3).enter("forward").raises(Code::reduction_not_finished, "the backward before this forward");
  scripts[0].raises(Code::peer_closed, "rank 1 closed the connection");
  const Report report = report_of(scripts);
  EXPECT_EQ(report.outcome, Outcome::error);
  ASSERT_EQ(id_of(report), "unused-parameters");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
  EXPECT_EQ(report.diagnosis()->spans.front().line, 21);
}

TEST_F(Diagnoses, UnusedParametersOfAllRanksAreFoundAlthoughNobodyWaits) {
  std::vector<RankScript> scripts = train({3, {0, 1, 2}});
  for (RankScript& s : scripts) s.returns();
  const Report silent = report_of(scripts);
  EXPECT_EQ(silent.outcome, Outcome::ok);
  ASSERT_EQ(id_of(silent), "unused-parameters");
  EXPECT_EQ(silent.diagnosis()->ranks, (std::vector<Rank>{0, 1, 2}));

  std::vector<RankScript> raising = train({3, {0, 1, 2}});
  for (RankScript& s : raising) s.site("train", 3).enter("forward").raises(Code::reduction_not_finished);
  const Report raised = report_of(raising);
  ASSERT_EQ(id_of(raised), "unused-parameters");
  EXPECT_EQ(raised.diagnosis()->ranks, (std::vector<Rank>{0, 1, 2}));
}

TEST_F(Diagnoses, ATimeoutOfTheBucketIsTheSameDisease) {
  std::vector<RankScript> scripts = train({});
  scripts[0].wait({30'000'000'000'000}).raises(Code::timeout, "all_reduce was not finished within 30s");
  scripts[1]
      .site("barrier")
      .enter("barrier")
      .collective("barrier", "", true)
      .wait({31'000'000'000'000})
      .raises(Code::peer_closed);
  const Report report = report_of(scripts);
  EXPECT_EQ(report.outcome, Outcome::timeout);
  EXPECT_EQ(id_of(report), "unused-parameters");
}

TEST_F(Diagnoses, HealthyRunsAndStragglersGetNone) {
  std::vector<RankScript> scripts = train({4, {}});
  for (RankScript& s : scripts) s.site("barrier").enter("barrier").collective("barrier").leave();
  scripts[2].wait({5'000'000'000'000});
  for (RankScript& s : scripts) s.returns();
  const Report report = report_of(scripts);
  EXPECT_EQ(report.outcome, Outcome::ok);
  EXPECT_EQ(id_of(report), "none");
  EXPECT_FALSE(report.divergence.has_value());
  EXPECT_TRUE(report.blocked.empty());
}

TEST_F(Diagnoses, ATimeoutBecauseOfAStragglerIsNoMissingCall) {
  std::vector<RankScript> scripts = train({2, {}});
  scripts[0].collective("all_reduce", "", true).wait({30'000'000'000'000}).raises(Code::timeout);
  scripts[1].enter("compute").wait({40'000'000'000'000});
  RunRecord run = run_of(scripts);
  run.deadlocked = false;
  scenario_ = scenario_of(2);
  const Report report = analyse(scenario_, std::move(run));
  EXPECT_EQ(report.outcome, Outcome::timeout);
  ASSERT_EQ(id_of(report), "delayed-enter");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
  EXPECT_NE(report.diagnosis()->headline.find("still at work in compute"), std::string::npos);
  ASSERT_TRUE(report.divergence.has_value());
  EXPECT_EQ(report.divergence->field, DivergenceKind::missing);
}

std::vector<RankScript> barrier_hang(int ranks, Rank evaluator) {
  std::vector<RankScript> scripts = train({ranks, {}});
  for (Rank r = 0; r < ranks; ++r) {
    RankScript& s = scripts[static_cast<std::size_t>(r)];
    if (r == evaluator) {
      s.site("eval", -1, 25, 5).enter("eval").collective("broadcast", "buffers", true);
      s.last().async = true;
    } else {
      s.site("barrier", -1, 27, 5).enter("barrier").collective("barrier", "", true);
    }
  }
  return scripts;
}

TEST_F(Diagnoses, EvaluationThroughTheWrapperIsNamedAsTheSourceOfTheBroadcast) {
  for (const int ranks : {2, 4, 7}) {
    for (const Rank evaluator : {0, ranks - 1}) {
      const Report report = report_of(barrier_hang(ranks, evaluator));
      ASSERT_EQ(id_of(report), "collective-mismatch");
      EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{evaluator});
      EXPECT_NE(report.diagnosis()->fix.text.find("through: module"), std::string::npos);
      EXPECT_EQ(report.diagnosis()->spans.front().line, 25);
    }
  }
}

TEST_F(Diagnoses, TheMinorityIsTheCulpritOfAMismatch) {
  for (const char* field : {"root", "reduce operation", "dtype", "count", "operation"}) {
    std::vector<RankScript> scripts;
    for (Rank r = 0; r < 4; ++r) {
      scripts.emplace_back(r);
      RankScript& s = scripts.back();
      s.collective("all_reduce")
          .collective(r == 2 && field == std::string("operation") ? "all_gather" : "reduce", "", true);
      s.last().root = r == 2 && field == std::string("root") ? 2 : 0;
      s.last().op = r == 2 && field == std::string("reduce operation") ? ReduceOp::max : ReduceOp::sum;
      s.last().dtype = r == 2 && field == std::string("dtype") ? DType::i32 : DType::f32;
      s.last().count = r == 2 && field == std::string("count") ? 3 : 4;
    }
    const Report report = report_of(scripts);
    ASSERT_TRUE(report.divergence.has_value()) << field;
    EXPECT_EQ(name_of(report.divergence->field), field);
    EXPECT_EQ(report.divergence->seq, 2);
    EXPECT_EQ(id_of(report), field == std::string("root")        ? "root-mismatch"
                             : field == std::string("operation") ? "collective-mismatch"
                                                                 : "parameter-mismatch");
    EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{2}) << field;
  }
}

TEST_F(Diagnoses, AnAllReduceOfTheProgramAgainstOneOfDdpsIsAnotherCallNotAnotherCount) {
  std::vector<RankScript> scripts;
  for (Rank r = 0; r < 3; ++r) {
    scripts.emplace_back(r);
    scripts.back().collective("all_reduce", r == 0 ? "" : "bucket 0", true);
    scripts.back().last().count = r == 0 ? 1 : 49;
  }
  const Report report = report_of(scripts);
  ASSERT_EQ(id_of(report), "collective-mismatch");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{0});
  EXPECT_NE(report.diagnosis()->headline.find("(bucket 0)"), std::string::npos) << report.diagnosis()->headline;
  EXPECT_EQ(report.diagnosis()->fix.text.find("count"), std::string::npos) << report.diagnosis()->fix.text;
}

TEST_F(Diagnoses, ATieHasTwoCampsAndASwapIsSaid) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1)};
  scripts[0].collective("all_reduce").collective("broadcast");
  scripts[1].collective("broadcast").collective("all_reduce");
  for (RankScript& s : scripts) s.returns();
  const Report report = report_of(scripts);
  ASSERT_EQ(id_of(report), "collective-mismatch");
  EXPECT_EQ(report.diagnosis()->ranks, (std::vector<Rank>{0, 1}));
  EXPECT_NE(report.diagnosis()->why.find("in the opposite order"), std::string::npos);
}

std::vector<RankScript> inplace(int ranks, const std::string& tensor, const std::string& by) {
  std::vector<RankScript> scripts;
  for (Rank r = 0; r < ranks; ++r) {
    scripts.emplace_back(r);
    RankScript& s = scripts.back();
    s.site("train", 0, 22, 11).enter("forward");
    s.note(notes::TensorWritten{tensor, 7, by, by == "buffer broadcast"});
    s.note(notes::TensorSaved{tensor, 7, "norm"}).leave();
    s.site("train", 0, 23, 11).enter("forward");
    s.note(notes::TensorWritten{tensor, 8, by, by == "buffer broadcast"});
    s.note(notes::TensorSaved{tensor, 8, "norm"}).leave();
    s.site("train", 0, 24, 11).enter("backward").wait({static_cast<std::int64_t>(r)});
    s.raises(Code::saved_tensor_modified, "modified by an inplace operation",
             {{"tensor", tensor}, {"version", "8"}, {"expected", "7"}});
  }
  return scripts;
}

TEST_F(Diagnoses, BufferBroadcastInplaceNamesTheForwardThatSavedAndTheOneThatWrote) {
  const Report report = report_of(inplace(3, "bn7.running_var", "buffer broadcast"));
  ASSERT_EQ(id_of(report), "buffer-broadcast-inplace");
  EXPECT_EQ(report.diagnosis()->ranks, (std::vector<Rank>{0, 1, 2}));
  EXPECT_EQ(report.diagnosis()->parameters, std::vector<std::string>{"bn7.running_var"});
  EXPECT_NE(report.diagnosis()->cause.find("first forward of step 0 saved"), std::string::npos);
  EXPECT_NE(report.diagnosis()->cause.find("second forward"), std::string::npos);
  EXPECT_EQ(report.diagnosis()->spans.front().line, 23);
}

TEST_F(Diagnoses, AWriteByTheUserIsNotBlamedOnTheBroadcast) {
  EXPECT_EQ(id_of(report_of(inplace(2, "x", "add_"))), "none");
}

TEST_F(Diagnoses, StaleRendezvousNeedsAnOldRecordAndAVictim) {
  const auto scripts = [](int launch, bool fails) {
    std::vector<RankScript> s{RankScript(0), RankScript(1)};
    s[0].site("init_process_group", -1, 18, 5).enter("init_process_group").store("rank_1");
    s[0].note(notes::StoreRead{"rank_1", launch, 2, false});
    s[1].site("init_process_group", -1, 18, 5).enter("init_process_group").leave().returns();
    if (fails) return s[0].wait({30'000'000'000'000}).raises(Code::rendezvous_timeout, "rank 1 did not answer"), s;
    return s[0].leave().returns(), s;
  };
  const Report stale = report_of(scripts(1, true));
  EXPECT_EQ(stale.outcome, Outcome::timeout);
  ASSERT_EQ(id_of(stale), "stale-rendezvous");
  EXPECT_EQ(stale.diagnosis()->ranks, std::vector<Rank>{0});
  EXPECT_EQ(id_of(report_of(scripts(1, false))), "none");
  EXPECT_NE(id_of(report_of(scripts(2, true))), "stale-rendezvous");
}

TEST_F(Diagnoses, ARankThatDiedIsNamedWhetherTheOthersHangOrFail) {
  std::vector<RankScript> hang = train({3, {}});
  hang[2].site("train", 3).enter("forward").dies();
  for (const Rank r : {0, 1})
    hang[static_cast<std::size_t>(r)].site("train", 3).enter("backward").collective("all_reduce", "bucket 0", true);
  const Report hanging = report_of(hang);
  ASSERT_EQ(id_of(hanging), "rank-died");
  EXPECT_EQ(hanging.diagnosis()->ranks, std::vector<Rank>{2});
  EXPECT_EQ(hanging.blocked.front().why, "which died before it");

  std::vector<RankScript> fail = hang;
  for (const Rank r : {0, 1}) fail[static_cast<std::size_t>(r)].wait({1'000'000'000}).raises(Code::peer_closed);
  EXPECT_EQ(id_of(report_of(fail)), "rank-died");
}

TEST_F(Diagnoses, ARankThatFinishedEarlyIsAMissingCall) {
  std::vector<RankScript> scripts = train({3, {}});
  scripts[1].returns();
  for (const Rank r : {0, 2})
    scripts[static_cast<std::size_t>(r)]
        .site("all_reduce", -1, 30, 5)
        .enter("all_reduce")
        .collective("all_reduce", "", true);
  const Report report = report_of(scripts);
  ASSERT_EQ(id_of(report), "missing-call");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
  EXPECT_EQ(report.diagnosis()->spans.front().line, 30);
}

TEST_F(Diagnoses, ACallThatNobodyLeavesIsNotBlamedOnAnybody) {
  std::vector<RankScript> scripts = train({2, {}});
  for (RankScript& s : scripts) s.collective("all_reduce", "", true);
  const Report report = report_of(scripts);
  EXPECT_EQ(report.outcome, Outcome::deadlock);
  EXPECT_EQ(id_of(report), "all-stuck");
  EXPECT_EQ(report.diagnosis()->evidence.size(), 2U);
  EXPECT_EQ(report.blocked.front().why, "whose messages did not arrive");
}

TEST_F(Diagnoses, SendsInACircleAreNamed) {
  for (const int ranks : {2, 5}) {
    std::vector<RankScript> scripts;
    for (Rank r = 0; r < ranks; ++r) scripts.emplace_back(r).message("send", (r + 1) % ranks, true);
    const Report report = report_of(scripts);
    ASSERT_EQ(id_of(report), "send-cycle");
    EXPECT_EQ(report.diagnosis()->ranks.size(), static_cast<std::size_t>(ranks));
  }
}

TEST_F(Diagnoses, ALostRecordIsNotTakenForMissingCalls) {
  std::vector<RankScript> scripts{RankScript(0), RankScript(1), RankScript(2)};
  scripts[0].dies();
  for (const Rank r : {1, 2}) {
    RankScript& s = scripts[static_cast<std::size_t>(r)];
    s.collective("barrier").collective("all_reduce", "", true);
    s.last().count = 4 + 4 * r;
    s.raises(Code::peer_closed);
  }
  RunRecord run = run_of(scripts);
  run.ranks[0].log.error.code = Code::process_aborted;
  scenario_ = scenario_of(3);
  const Report report = analyse(scenario_, std::move(run));
  ASSERT_EQ(id_of(report), "parameter-mismatch");
  EXPECT_EQ(report.divergence->field, DivergenceKind::count);
}

TEST(DiagnosisTable, HasOneRowPerIdAndALongTextForEach) {
  int before = 0;
  for (const DiagnosisRow* row : diagnosis_table()) {
    EXPECT_EQ(diagnosis_named(row->id), row);
    EXPECT_GT(row->text.size(), 200U) << row->id;
    EXPECT_NE(row->text.find("Fix:"), std::string_view::npos) << row->id;
    EXPECT_GT(row->order, before) << row->id << " has the order of another";
    before = row->order;
  }
  EXPECT_EQ(diagnosis_named("nonsense"), nullptr);
}

TEST(DiagnosisTable, HasTheIdsThatTheLanguageKnows) {
  std::vector<std::string_view> ids;
  for (const DiagnosisRow* row : diagnosis_table()) ids.push_back(row->id);
  EXPECT_EQ(language::diagnosis_ids(), ids);
}

}  // namespace
}  // namespace pdsim::scenarios
