#include "core/collectives/plan_checker.h"

#include "core/collectives/plans.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim {
namespace {

TEST(EveryAlgorithm, IsProvenForEveryRootUpToSeventeenRanksAndCostsItsClosedForm) {
  for (const Algorithm& a : algorithms()) {
    if (row(a.kind).point_to_point) continue;
    for (int p = 1; p <= 17; ++p)
      for (const std::int64_t n :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{p} - 1, std::int64_t{p}, std::int64_t{p} + 3})
        for (Rank root = 0; root < (row(a.kind).rooted ? p : 1); ++root) {
          const PlanVerdict v = check_plan(a, p, n, root);
          ASSERT_TRUE(v.ok) << v.problem;
          const PlanCost want = a.cost(p, n);
          EXPECT_EQ(v.counted.rounds, want.rounds) << a.name << " p=" << p << " n=" << n;
          EXPECT_EQ(v.counted.messages, want.messages) << a.name << " p=" << p << " n=" << n;
          EXPECT_EQ(v.counted.elements_sent, want.elements_sent) << a.name << " p=" << p << " n=" << n;
        }
  }
}

TEST(EveryAllReduce, SendsNoLessThanThePatarasukYuanBound) {
  for (const Algorithm& a : algorithms()) {
    if (a.kind != CollectiveKind::all_reduce) continue;
    for (int p = 2; p <= 64; ++p) EXPECT_GE(a.cost(p, 64 * p).elements_sent, 2 * 64 * (p - 1)) << a.name;
  }
}

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
      {"shifted chunk", shifted_chunk, 3, "holds"},
      {"missing round", missing_round, 3, "holds"},
      {"cycle of sends", send_first_cycle, 2, "waits in round 2 for ever"},
      {"double add", double_add, 2, "2 times"},
      {"input sent without a copy", unscaled_input, 2, "without copying it first"},
      {"swapped peers", swapped_peers, 3, "for ever"},
      {"past the end", past_the_end, 2, "of a buffer of"},
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
    return binomial_broadcast(a);
  };
  const Algorithm row{CollectiveKind::broadcast, "wrong root", wrong};
  EXPECT_FALSE(check_plan(row, 2, 4, 0).ok);
}

TEST(FindAlgorithm, NamesWhatThereIs) {
  EXPECT_EQ(find_algorithm(CollectiveKind::all_reduce, "auto").value()->name, "ring");
  const auto missing = find_algorithm(CollectiveKind::all_reduce, "rnig");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "all_reduce has no algorithm `rnig`; there is ring, recursive_doubling, "
            "rabenseifner, bcube, reduce_broadcast, segmented_ring, double_tree, two_level, knomial");
}

}  // namespace
}  // namespace pdsim
