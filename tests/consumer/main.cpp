// A program that only has an installed pdsim: proves that a ring all_reduce over five ranks is right, without running it.
#include "core/collectives/plan_checker.h"

#include <iostream>

int main() {
  const auto ring = pdsim::find_algorithm(pdsim::CollectiveKind::all_reduce, "ring");
  const pdsim::PlanVerdict verdict = pdsim::check_plan(**ring, 5, 1000, 0);
  std::cout << verdict.counted.rounds << " rounds, " << (verdict.ok ? "right" : verdict.problem) << "\n";
  return verdict.ok ? 0 : 1;
}
