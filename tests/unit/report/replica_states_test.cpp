// Replicas are compared where the program uses them, within the ranks of a wrapper.
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/training/replicas/replica_causes.h"
#include "tests/unit/report/run_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

using diagnoses::cause_of;
using diagnoses::ReplicaCause;
using diagnoses::replicas_apart;
using diagnoses::ReplicasApart;
using notes::ReplicaMoment;

// The notes of a script on one rank. A digest is a whole number that the test chooses.
class Trained {
 public:
  explicit Trained(Rank rank, std::vector<Rank> group = {}) : script_(rank) {
    script_.note(notes::DdpOptions{}).note(notes::ReplicaMade{"1", std::move(group), {"weight", "bias"}});
    state(ReplicaMoment::wrapped, 1);
  }
  Trained& forward(std::int64_t digest) { return state(ReplicaMoment::forward, digest); }
  Trained& local_forward(std::int64_t digest) { return state(ReplicaMoment::local_forward, digest); }
  Trained& reduce() {
    ++calls_;
    return *this;
  }
  Trained& step(std::int64_t digest, bool synchronised = true, const std::string& lr = "0.1") {
    script_.site("optimizer_step", step_, 10).wait(Time{1}).note(notes::OptimizerStep{synchronised, "1", {"lr"}, {lr}});
    state(ReplicaMoment::step, digest);
    ++step_;
    return *this;
  }
  // A step of which the record says what it began with.
  Trained& step_from(std::int64_t averaged, std::int64_t gradients, std::int64_t of_optimizer, std::int64_t digest) {
    script_.site("optimizer_step", step_, 10)
        .wait(Time{1})
        .note(notes::OptimizerStep{true, "1", {"lr"}, {"0.1"}, averaged, gradients, of_optimizer});
    state(ReplicaMoment::step, digest);
    ++step_;
    return *this;
  }
  RankScript end(std::int64_t digest) {
    state(ReplicaMoment::end, digest);
    return script_.returns();
  }

 private:
  Trained& state(ReplicaMoment moment, std::int64_t digest) {
    script_.site("forward", step_, 9).wait(Time{1}).note(notes::ReplicaState{"1", moment, calls_, digest, {digest, 0}});
    return *this;
  }
  RankScript script_;
  std::int64_t calls_ = 0;
  int step_ = 0;
};

Report report_of(const std::vector<RankScript>& ranks) {
  Report report;
  report.run = run_of(ranks);
  return report;
}

std::string diagnosed(const Report& report) {
  const std::optional<Diagnosis> found = diagnose(report);
  return found ? found->id : "none";
}

TEST(ReplicaStates, TheFirstStepAfterWhichRanksDifferIsFound) {
  std::vector<RankScript> ranks;
  for (Rank rank = 0; rank < 3; ++rank) {
    const std::int64_t own = rank == 1 ? 50 : 0;
    ranks.push_back(Trained(rank).forward(1).reduce().step(2).forward(2).reduce().step(3 + own).forward(3 + own).end(3 + own));
  }
  const Report report = report_of(ranks);
  const std::optional<ReplicasApart> apart = replicas_apart(report);
  ASSERT_TRUE(apart);
  ASSERT_NE(apart->step(), nullptr);
  EXPECT_EQ(apart->step()->site.step, 1);
  EXPECT_EQ(apart->ranks, std::vector<Rank>{1});
  EXPECT_EQ(apart->parameters, std::vector<std::string>{"weight"});
}

TEST(ReplicaStates, OfTwoHalvesNeitherIsAccused) {
  std::vector<RankScript> ranks;
  for (Rank rank = 0; rank < 4; ++rank) ranks.push_back(Trained(rank).forward(1).reduce().step(2 + rank % 2).forward(2 + rank % 2).end(9));
  const Report report = report_of(ranks);
  const std::optional<ReplicasApart> apart = replicas_apart(report);
  ASSERT_TRUE(apart);
  EXPECT_TRUE(apart->ranks.empty());
  const std::optional<Diagnosis> found = diagnose(report);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, (std::vector<Rank>{0, 1, 2, 3}));
  EXPECT_NE(found->why.find("cannot say which is right"), std::string::npos) << found->why;
}

TEST(ReplicaStates, WhatIsMadeEqualBeforeTheNextForwardIsNoFinding) {
  std::vector<RankScript> ranks;
  for (Rank rank = 0; rank < 2; ++rank)
    ranks.push_back(Trained(rank).forward(1).reduce().step(10 + rank).reduce().forward(3).reduce().step(4).end(4));
  EXPECT_EQ(diagnosed(report_of(ranks)), "none");
}

TEST(ReplicaStates, LocalStepsThatAreAveragedNowAndThenAreNoFinding) {
  const auto trained = [](bool averages) {
    std::vector<RankScript> ranks;
    for (Rank rank = 0; rank < 2; ++rank) {
      Trained one(rank);
      one.local_forward(1).step(10 + rank, false);
      if (averages) one.reduce();
      one.local_forward(averages ? 3 : 10 + rank).step(20 + rank, false);
      ranks.push_back(one.end(20 + rank));
    }
    return report_of(ranks);
  };
  const Report averaged = trained(true), apart = trained(false);
  EXPECT_FALSE(replicas_apart(averaged));
  EXPECT_TRUE(replicas_apart(apart));
}

TEST(ReplicaStates, WhatChangesAfterTheLastStepIsNoFinding) {
  std::vector<RankScript> ranks;
  for (Rank rank = 0; rank < 2; ++rank) ranks.push_back(Trained(rank).forward(1).reduce().step(2).end(2 + rank));
  EXPECT_EQ(diagnosed(report_of(ranks)), "none");
}

TEST(ReplicaStates, OnlyRanksOfOneWrapperAreCompared) {
  std::vector<RankScript> ranks;
  for (Rank rank = 0; rank < 4; ++rank) {
    const std::vector<Rank> group = rank < 2 ? std::vector<Rank>{0, 1} : std::vector<Rank>{2, 3};
    const std::int64_t of_group = rank / 2 * 100;
    ranks.push_back(Trained(rank, group).forward(1 + of_group).reduce().step(2 + of_group).end(2 + of_group));
  }
  EXPECT_EQ(diagnosed(report_of(ranks)), "none");
}

TEST(ReplicaStates, EachCauseIsKnownByWhatTheRecordHolds) {
  const auto cause = [](auto train) {
    std::vector<RankScript> ranks;
    for (Rank rank = 0; rank < 3; ++rank) ranks.push_back(train(Trained(rank), rank == 2));
    const Report report = report_of(ranks);
    const std::optional<ReplicasApart> apart = replicas_apart(report);
    EXPECT_TRUE(apart);
    return apart ? cause_of(report, *apart) : ReplicaCause::none;
  };
  EXPECT_EQ(cause([](Trained t, bool odd) {
              t.forward(1).reduce();
              if (!odd) t.step(2);
              return t.forward(odd ? 1 : 2).end(0);
            }),
            ReplicaCause::skipped);
  EXPECT_EQ(cause([](Trained t, bool odd) { return t.forward(1).reduce().step(odd ? 3 : 2, true, odd ? "0.2" : "0.1").forward(odd ? 3 : 2).end(0); }),
            ReplicaCause::setting);
  EXPECT_EQ(cause([](Trained t, bool odd) { return t.forward(1).reduce().step(2).forward(odd ? 3 : 2).end(0); }), ReplicaCause::changed);
  EXPECT_EQ(cause([](Trained t, bool odd) { return t.forward(1).reduce().step(odd ? 3 : 2).forward(odd ? 3 : 2).end(0); }), ReplicaCause::none);
}

TEST(ReplicaStates, WhatAStepBeganWithNamesTheCauseAndTheRanks) {
  const auto found = [](std::int64_t averaged, std::int64_t gradients, std::int64_t state) {
    std::vector<RankScript> ranks;
    for (Rank rank = 0; rank < 3; ++rank) {
      const bool odd = rank == 2;
      Trained one(rank);
      one.forward(1).reduce().step_from(5, 5, 6, 2).forward(2).reduce();
      one.step_from(odd ? averaged : 7, odd ? gradients : 7, odd ? state : 8, odd ? 4 : 3).forward(odd ? 4 : 3);
      ranks.push_back(one.end(odd ? 4 : 3));
    }
    const std::optional<Diagnosis> d = diagnose(report_of(ranks));
    EXPECT_TRUE(d);
    if (d) {
      EXPECT_EQ(d->id, "replicas-differ");
      EXPECT_EQ(d->ranks, std::vector<Rank>{2});
    }
    return d ? d->cause : "none";
  };
  constexpr std::int64_t unknown = notes::OptimizerStep::unknown;
  EXPECT_EQ(found(7, 9, 8), "rank 2 changed its gradients between the backward and the optimizer step in step 1");
  EXPECT_EQ(found(7, 7, 9), "rank 2 begins the optimizer step in step 1 with an optimizer's state (momentum, moments) of its own");
  const std::string nothing = "no call of the record explains it";
  EXPECT_EQ(found(9, 9, 8), nothing) << "they were not the same when backward returned";
  EXPECT_EQ(found(7, 9, 9), "rank 2 changed its gradients between the backward and the optimizer step in step 1");
  EXPECT_EQ(found(unknown, 9, 8), nothing);
  EXPECT_EQ(found(7, 7, unknown), nothing);
  EXPECT_EQ(found(7, 7, 8), nothing);
}

TEST(ReplicaStates, RanksThatRanOutOfInputsAreNotComparedWithOthersOfTheSameStep) {
  Trained first(0), second(1);
  first.forward(1).reduce().step(2).reduce();  // it makes the second's call
  second.forward(1).reduce().step(2).forward(2).reduce().step(3);
  first.reduce().forward(3);
  second.reduce().forward(3);
  EXPECT_EQ(diagnosed(report_of({first.end(3), second.end(3)})), "none");
}

}  // namespace
}  // namespace pdsim::scenarios
