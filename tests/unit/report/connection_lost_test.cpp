#include "scenarios/run/analyse.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

RankScript after_one_call(Rank rank) {
  RankScript script(rank);
  script.site("train", 0).enter("train").collective("all_reduce", "bucket 0");
  return script;
}

RankScript loses_it(Rank rank) {
  RankScript script = after_one_call(rank);
  script.collective("all_reduce", "bucket 1", true).raises(Code::peer_closed, "the connection was closed by rank 9");
  return script;
}

RankScript hangs(Rank rank) {
  RankScript script = after_one_call(rank);
  script.collective("all_reduce", "bucket 1", true);
  return script;
}

std::string id_of(const std::vector<RankScript>& scripts) {
  const Scenario scenario = scenario_of(static_cast<int>(scripts.size()));
  const Report report = analyse(scenario, run_of(scripts));
  return report.diagnosis() ? report.diagnosis()->id : "none";
}

TEST(ConnectionLost, IsSaidWhenAllRanksLivedAndWereInTheCall) {
  const Scenario scenario = scenario_of(2);
  const Report report = analyse(scenario, run_of({loses_it(0), loses_it(1)}));
  ASSERT_TRUE(report.diagnosis());
  EXPECT_EQ(report.diagnosis()->id, "connection-lost");
  EXPECT_EQ(report.diagnosis()->ranks, (std::vector<Rank>{0, 1}));
  EXPECT_EQ(report.diagnosis()->headline,
            "ranks 0, 1 lost a connection in all_reduce (bucket 1) #2, and no rank had ended");
}

TEST(ConnectionLost, IsSaidWhereOnlyOneEndNoticed) {
  const Scenario scenario = scenario_of(3);
  const Report report = analyse(scenario, run_of({hangs(0), loses_it(1), hangs(2)}));
  ASSERT_TRUE(report.diagnosis());
  EXPECT_EQ(report.diagnosis()->id, "connection-lost");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
}

TEST(ConnectionLost, IsSaidWhereTheOtherEndIsStillInTheCallBefore) {
  RankScript ahead = after_one_call(1);
  ahead.collective("all_reduce", "bucket 1");
  ahead.collective("barrier", "", true).raises(Code::peer_closed, "the connection was closed by rank 0");
  EXPECT_EQ(id_of({hangs(0), ahead}), "connection-lost");
}

TEST(ConnectionLost, IsSaidWhereTheFirstToBeToldWasACallBehind) {
  RankScript ahead = after_one_call(1);
  ahead.collective("all_reduce", "bucket 1");
  ahead.collective("all_reduce", "bucket 2", true).raises(Code::peer_closed, "the connection was closed by rank 0");
  EXPECT_EQ(id_of({loses_it(0), ahead}), "connection-lost");
}

TEST(ConnectionLost, IsSaidWhereARankCameToTheCallAfterAnotherWasTold) {
  RankScript late = after_one_call(1);
  late.wait(Time{1'000'000'000'000});
  late.collective("all_reduce", "bucket 1", true).raises(Code::peer_closed, "the connection was closed by rank 0");
  EXPECT_EQ(id_of({loses_it(0), late}), "connection-lost");
}

TEST(ConnectionLost, IsNotSaidWhereARankHadEndedOrCalledSomethingElse) {
  RankScript returned = after_one_call(1);
  returned.leave().returns();
  EXPECT_NE(id_of({loses_it(0), returned}), "connection-lost");
  RankScript dead = after_one_call(1);
  dead.dies();
  EXPECT_NE(id_of({loses_it(0), dead}), "connection-lost");
  RankScript elsewhere = after_one_call(1);
  elsewhere.collective("barrier", "", true).raises(Code::peer_closed, "the connection was closed");
  EXPECT_NE(id_of({loses_it(0), elsewhere}), "connection-lost");
  RankScript late = after_one_call(1);
  late.collective("all_reduce", "bucket 1", true).raises(Code::timeout, "timed out");
  EXPECT_NE(id_of({loses_it(0), late}), "connection-lost");
}

// Told of at one moment, as by a launcher: which of them went first is in their records alone.
TEST(RankDied, IsTheOneThatSawNobodyGoAmongThoseThatEndedTogether) {
  RankScript killed = after_one_call(1);
  killed.dies();
  const auto follows = [](Rank rank) {
    RankScript script = loses_it(rank);
    script.dies();  // an exit status of its own, after the error
    script.last().error = Code::peer_closed;
    return script;
  };
  const Scenario scenario = scenario_of(3);
  const Report report = analyse(scenario, run_of({follows(0), killed, follows(2)}));
  ASSERT_TRUE(report.diagnosis());
  EXPECT_EQ(report.diagnosis()->id, "rank-died");
  EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{1});
}

}  // namespace
}  // namespace pdsim::scenarios
