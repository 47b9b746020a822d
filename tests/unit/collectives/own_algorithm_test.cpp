#include "core/collectives/proof/plan_proof.h"
#include "core/collectives/tuning/algorithm_choice.h"
#include "tests/helpers/planted_algorithms.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <vector>

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

// The proof runs in a process of its own, so the count lies in a page that it shares.
int& plans_made() {
  static int* page =
      static_cast<int*>(mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *page;
}
Plan counted(PlanArgs a) {
  ++plans_made();
  return planted::right_algorithm().plan(a);
}

TEST(OwnAlgorithms, AreProvenOnceForASizeAndAPlacement) {
  Algorithm own = planted::right_algorithm();
  own.plan = counted;
  EXPECT_EQ(plans_made(), 0);
  AlgorithmProofs proofs;
  EXPECT_TRUE(proofs.check(own, 4, 1).ok());
  const int once = plans_made();
  EXPECT_GT(once, 0);
  const Algorithm made_again = own;
  EXPECT_TRUE(proofs.check(made_again, 4, 1).ok());
  EXPECT_EQ(plans_made(), once);
  EXPECT_TRUE(proofs.check(own, 5, 1).ok());
  EXPECT_GT(plans_made(), once);
}

// Mistakes that end the process that runs the plan.
Plan divides_by_zero(PlanArgs a) {
  std::raise(SIGFPE);  // as the processor does; a sanitizer would end a real division in its own way
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
}
Plan leaves_its_memory(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  std::raise(SIGSEGV);  // as a write through a wild pointer does
}
Plan aborts(PlanArgs a) {
  std::abort();
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
}
Plan throws_at_once(PlanArgs) { throw std::out_of_range("no such chunk"); }

TEST(OwnAlgorithms, ThatWouldEndTheProcessEndInAVerdict) {
  struct Wrong {
    const char* name;
    PlanFunction plan;
    const char* refused;
  };
  for (const Wrong& wrong :
       {Wrong{"divides", divides_by_zero, "round 1 of rank 0 is never reached: the plan divides by zero"},
        Wrong{"leaves", leaves_its_memory, "round 2 of rank 0 is never reached: the plan accesses memory outside its "
                                           "buffers"},
        Wrong{"aborts", aborts, "round 1 of rank 0 is never reached: the plan aborts"},
        Wrong{"throws", throws_at_once, "the plan throws no such chunk"}}) {
    AlgorithmProofs proofs;
    const Status status = proofs.check({CollectiveKind::all_reduce, wrong.name, wrong.plan}, 3, 1);
    ASSERT_FALSE(status.ok()) << wrong.name;
    EXPECT_EQ(status.error().code, Code::invalid_argument);
    EXPECT_NE(status.error().message.find(wrong.refused), std::string::npos) << status.error().message;
  }
}

TEST(OwnAlgorithms, WhoseScratchThrowsAreRefused) {
  Algorithm own = planted::right_algorithm();
  own.scratch = [](const PlanArgs&) -> std::int64_t { throw std::runtime_error("no"); };
  AlgorithmProofs proofs;
  const Status status = proofs.check(own, 2, 1);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("the row's function throws"), std::string::npos) << status.error().message;
  EXPECT_FALSE(prove(own).ok);
  own.closed_form = [](const PlanArgs&) -> PlanCost { throw std::runtime_error("no"); };
  EXPECT_FALSE(prove(own).ok);
}

}  // namespace
}  // namespace pdsim
