#include "core/collectives/collective_shape.h"
#include "core/collectives/proof/plan_proof.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim {
namespace {

// Planted mistakes: each must be caught, at the smallest sizes.
Plan shifted_chunk(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(next, a.chunk(a.rank - k)), receive_reduce(previous, a.chunk(a.rank - k - 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(next, a.chunk(a.rank - k)), receive(previous, a.chunk(a.rank - k - 1)));
}
Plan missing_round(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
  for (int k = 0; k < a.size - 2; ++k)
    co_yield round(send(next, a.chunk(a.rank - k)), receive_reduce(previous, a.chunk(a.rank - k - 1)));
}
Plan send_first_cycle(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  co_yield round(send((a.rank + 1) % a.size, a.whole()));
  co_yield round(receive_reduce((a.rank + a.size - 1) % a.size, a.whole()));
}
Plan double_add(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int twice = 0; twice < 2; ++twice)
    co_yield round(send(1 - a.rank, a.whole()), receive_reduce(1 - a.rank, a.whole()));
}
Plan unscaled_input(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  co_yield round(send(1 - a.rank, {0, a.count, BufferId::input}), receive_reduce(1 - a.rank, a.whole()));
}
Plan swapped_peers(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  const Rank next = (a.rank + 1) % a.size;
  co_yield round(send(next, a.whole()), receive_reduce(next, a.whole()));
}
Plan past_the_end(PlanArgs a) { co_yield round(copy({1, a.count, BufferId::output}, {0, a.count, BufferId::input})); }

TEST(PlanChecker, CatchesEveryPlantedMistake) {
  struct Mutant {
    const char* name;
    PlanFunction plan;
    int size;
    const char* says;
  };
  const std::vector<Mutant> mutants{
      {"shifted chunk", shifted_chunk, 3, "lacks"},
      {"missing round", missing_round, 3, "lacks"},
      {"cycle of sends", send_first_cycle, 2, "waits in round 2 forever"},
      {"double add", double_add, 2, "more than once"},
      {"input sent without a copy", unscaled_input, 2, "without copying it first"},
      {"swapped peers", swapped_peers, 3, "forever"},
      {"past the end", past_the_end, 2, "uses 6 elements from 1 on of its output, which has 6"},
  };
  for (const Mutant& m : mutants) {
    const Algorithm row{CollectiveKind::all_reduce, m.name, m.plan};
    const PlanVerdict v = check_plan(row, m.size, 6, 0);
    EXPECT_FALSE(v.ok) << m.name;
    EXPECT_NE(v.problem.find(m.says), std::string::npos) << v.problem;
  }
}

TEST(PlanChecker, CatchesAWrongRoot) {
  const auto wrong = [](PlanArgs a) {
    a.root = (a.root + 1) % a.size;
    return find_algorithm(CollectiveKind::broadcast, "binomial").value()->plan(a);
  };
  const Algorithm row{CollectiveKind::broadcast, "wrong root", wrong};
  EXPECT_FALSE(check_plan(row, 2, 4, 0).ok);
}

// Right for up to four ranks: the last round is missing for more.
Plan two_rounds_of_doubling(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int mask = 1; mask <= 2; mask *= 2)
    if ((a.rank ^ mask) < a.size)
      co_yield round(send(a.rank ^ mask, a.whole()), receive_reduce(a.rank ^ mask, a.whole()));
}

TEST(Proof, ShowsTheSmallestNumberOfRanksAndTheRoundThatGoesWrong) {
  const PlanProof three = prove({CollectiveKind::all_reduce, "doubling", two_rounds_of_doubling});
  EXPECT_EQ(three.at.size, 3);
  EXPECT_EQ(three.problem, "all_reduce doubling with 3 ranks: element 0 of rank 1 lacks the contribution of rank 2");
  EXPECT_EQ(three.drawn,
            "by round 2 of rank 1:\n"
            "  0 -> 1  element 0 into element 0, added\n"
            "  1 -> 0  element 0 into element 0, added\n");
  ProofOptions from_four;
  from_four.min_size = 4;
  EXPECT_EQ(prove({CollectiveKind::all_reduce, "doubling", two_rounds_of_doubling}, from_four).at.size, 5);
}

TEST(Proof, ShowsWhoWaitsForWhom) {
  const PlanProof cycle = prove({CollectiveKind::all_reduce, "cycle", send_first_cycle});
  EXPECT_EQ(cycle.at.size, 2);
  EXPECT_EQ(cycle.drawn,
            "by round 2 of rank 0:\n  rank 0 waits in round 2 forever: it sends to rank 1, which also waits, in its "
            "round 2\n  rank 1 waits in round 2 forever: it sends to rank 0, which also waits, in its round 2\n");
}

TEST(Proof, ShowsTheRoundThatAddsTwice) {
  const auto twice = [](PlanArgs a) -> Plan {
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
    const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
    for (int k = 0; k < a.size - 1; ++k) co_yield round(send(next, a.whole()), receive_reduce(previous, a.whole()));
  };
  const PlanProof proof = prove({CollectiveKind::all_reduce, "naive ring", twice});
  EXPECT_EQ(proof.problem,
            "all_reduce naive ring with 3 ranks: element 0 of rank 0 holds the contribution of rank 2 more than once");
  EXPECT_EQ(proof.drawn,
            "by round 3 of rank 0:\n"
            "  0 -> 1  element 0 into element 0, added\n"
            "  1 -> 2  element 0 into element 0, added\n"
            "  2 -> 0  element 0 into element 0, added\n");
}

TEST(Proof, HoldsTheCountedCostAgainstTheClosedFormAndTheBound) {
  const Algorithm& ring = *find_algorithm(CollectiveKind::all_reduce, "ring").value();
  Algorithm dear = ring;
  dear.closed_form = [](const PlanArgs& a) { return PlanCost{2 * a.size, 2 * a.size * (a.size - 1), 0}; };
  EXPECT_EQ(prove(dear).problem,
            "all_reduce ring with 1 rank and 0 elements has 0 rounds, and its closed form says 2");
  for (int p = 2; p <= 64; ++p) EXPECT_EQ(least_elements_sent(CollectiveKind::all_reduce, p, 64 * p), 2 * 64 * (p - 1));
}

Plan release_first(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  for (Rank r = 1; a.rank == 0 && r < a.size; ++r) co_yield round(send(r, nothing));
  for (Rank r = 1; a.rank == 0 && r < a.size; ++r) co_yield round(receive(r, nothing));
  if (a.rank != 0) co_yield round(receive(0, nothing));
  if (a.rank != 0) co_yield round(send(0, nothing));
}

TEST(PlanChecker, CatchesABarrierThatLetsGoBeforeAllAreThere) {
  const PlanVerdict v = check_plan({CollectiveKind::barrier, "release first", release_first}, 3, 0, 0);
  EXPECT_EQ(v.problem, "barrier release first with 3 ranks: rank 1 leaves without having heard from rank 2");
}

TEST(PlanChecker, CatchesARoundThatReceivesIntoWhatItSends) {
  const auto racing = [](PlanArgs a) -> Plan {
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
    co_yield round(send(1 - a.rank, a.whole()), receive(1 - a.rank, a.whole()));
  };
  const PlanVerdict v = check_plan({CollectiveKind::all_reduce, "racing", racing}, 2, 3, 0);
  EXPECT_EQ(v.problem, "all_reduce racing with 2 ranks: round 2 of rank 0 receives into elements that it also sends");
}

TEST(PlanChecker, TakesUpToAThousandRanks) {
  const Algorithm& ring = *find_algorithm(CollectiveKind::all_gather, "bruck").value();
  EXPECT_TRUE(check_plan(ring, 100, 1, 0).ok);
  EXPECT_EQ(check_plan(ring, 1025, 1, 0).problem, "the plan checker accepts up to 1024 ranks, not 1025");
}

TEST(FindAlgorithm, NamesWhatThereIs) {
  EXPECT_EQ(find_algorithm(CollectiveKind::all_reduce, "auto").value()->name, "ring");
  const auto missing = find_algorithm(CollectiveKind::all_reduce, "rnig");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(
      missing.error().message,
      "all_reduce has no algorithm `rnig`; there is ring, bcube, "
      "reduce_broadcast, double_tree, gloo_ring, knomial, rabenseifner, recursive_doubling, segmented_ring, two_level");
}

}  // namespace
}  // namespace pdsim
