#include "core/collectives/proof/plan_proof.h"
#include "core/collectives/tuning/algorithm_choice.h"
#include "tests/helpers/planted_algorithms.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim {
namespace {

TEST(OwnAlgorithms, AreRefusedWithASentenceThatNamesTheMistake) {
  AlgorithmProofs proofs;
  for (const planted::PlantedAlgorithm& one : planted::planted_algorithms()) {
    const Status status = proofs.check(one.row, one.ranks, 1);
    ASSERT_FALSE(status.ok()) << one.row.name;
    EXPECT_EQ(status.error().code, Code::invalid_argument);
    EXPECT_NE(status.error().message.find(one.refused), std::string::npos) << status.error().message;
    EXPECT_FALSE(prove(one.row).ok) << one.row.name;
  }
  EXPECT_TRUE(proofs.check(planted::right_algorithm(), 5, 1).ok());
}

TEST(OwnAlgorithms, WithoutAPlanAreRefused) {
  AlgorithmProofs proofs;
  EXPECT_EQ(proofs.check({CollectiveKind::barrier, "empty", nullptr}, 2, 1).error().message,
            "the plan checker refuses barrier empty: it has no plan");
}

TEST(OwnAlgorithms, ShowTheMessagesOfTheRoundThatGoesWrong) {
  AlgorithmProofs proofs;
  const planted::PlantedAlgorithm& wrong_peer = planted::planted_algorithms().front();
  const Status status = proofs.check(wrong_peer.row, 3, 1);
  EXPECT_NE(fact(status.error().facts, "counterexample").find("rank 0 waits in round 2"), std::string_view::npos);
}

int plans_made = 0;
Plan counted(PlanArgs a) {
  ++plans_made;
  return planted::right_algorithm().plan(a);
}

TEST(OwnAlgorithms, AreProvenOnceForASizeAndAPlacement) {
  Algorithm own = planted::right_algorithm();
  own.plan = counted;
  AlgorithmProofs proofs;
  EXPECT_TRUE(proofs.check(own, 4, 1).ok());
  const int once = plans_made;
  EXPECT_GT(once, 0);
  const Algorithm made_again = own;
  EXPECT_TRUE(proofs.check(made_again, 4, 1).ok());
  EXPECT_EQ(plans_made, once);
  EXPECT_TRUE(proofs.check(own, 5, 1).ok());
  EXPECT_GT(plans_made, once);
}

}  // namespace
}  // namespace pdsim
