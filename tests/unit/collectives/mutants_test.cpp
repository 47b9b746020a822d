// How many planted mistakes the plan checker catches, over every algorithm; those that pass must be shown to be none.
#include "tests/unit/collectives/mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>

namespace pdsim {
namespace {

struct Tally {
  int planted = 0, killed = 0, equivalent = 0;
};

PlanCase case_of(const Algorithm& a, int ranks) {
  PlanCase at;
  at.size = ranks;
  at.count = a.kind == CollectiveKind::barrier ? 0 : ranks + 3;
  at.root = row(a.kind).rooted ? 1 : 0;
  at.ranks_per_node = 2;
  return at;
}

bool same_cost(const PlanCost& a, const PlanCost& b) {
  return a.rounds == b.rounds && a.messages == b.messages && a.elements_sent == b.elements_sent;
}

// A spoiled plan that passes the checker must give the right numbers when it is run apart from it: then the change is no
// mistake (two rounds that do not touch each other, a copy onto itself). The two may not contradict each other.
void judge(const Algorithm& a, const PlanCase& at, const mutants::Mutant& m, Tally& tally) {
  ++tally.planted;
  const PlanVerdict verdict = check_plan(a, at, mutants::plans_of(m.schedule));
  if (!verdict.ok || !same_cost(verdict.counted, a.cost(at.size, at.count, at.ranks_per_node))) {
    ++tally.killed;
    EXPECT_TRUE(verdict.ok || !verdict.drawn.empty()) << verdict.problem;
    return;
  }
  const std::string problem = mutants::execute(a, at, m.schedule);
  EXPECT_EQ(problem, "") << "not caught: " << name_of(a.kind) << " " << a.name << ", " << m.mistake << " at "
                         << m.where;
  tally.equivalent += problem.empty() ? 1 : 0;
}

TEST(Mutants, OfEveryAlgorithmAreCaughtOrChangeNothing) {
  std::map<std::string_view, Tally> tallies;
  std::map<std::string, int> equivalent;  // by mistake and algorithm
  for (const Algorithm& a : algorithms()) {
    if (row(a.kind).point_to_point) continue;
    for (const int ranks : {4, 5}) {
      const PlanCase at = case_of(a, ranks);
      EXPECT_EQ(mutants::execute(a, at, mutants::schedule_of(a, at)), "") << name_of(a.kind) << " " << a.name;
      for (const mutants::Mutant& m : mutants::mutants_of(a, at)) {
        Tally& tally = tallies[m.mistake];
        const int before = tally.equivalent;
        judge(a, at, m, tally);
        if (tally.equivalent > before) ++equivalent[fmt::format("{}: {} {}", m.mistake, name_of(a.kind), a.name)];
      }
    }
  }
  Tally all;
  for (const std::string_view mistake : mutants::mistakes()) {
    const Tally& t = tallies[mistake];
    std::cout << fmt::format("{:<44}{:>6} planted {:>6} killed {:>6} equivalent\n", mistake, t.planted, t.killed,
                             t.equivalent);
    EXPECT_GT(t.planted, 0) << mistake;
    EXPECT_EQ(t.killed + t.equivalent, t.planted) << mistake;
    all.planted += t.planted;
    all.killed += t.killed;
    all.equivalent += t.equivalent;
  }
  for (const auto& [what, times] : equivalent)
    std::cout << fmt::format("  changes nothing: {}, {} times\n", what, times);
  const double rate = 100.0 * all.killed / (all.planted - all.equivalent);
  std::cout << fmt::format("{} of {} mutants killed ({:.2f} % of those that change anything), {} change nothing\n",
                           all.killed, all.planted, rate, all.equivalent);
  EXPECT_EQ(rate, 100);
  EXPECT_GT(all.planted, 30'000);
}

}  // namespace
}  // namespace pdsim
