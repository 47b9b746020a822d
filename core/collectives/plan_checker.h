// Proves a plan without running it: every send meets its receive with zero buffering, and every output element holds
// each contribution exactly once. Also counts what the cost model predicts.
//
//   method  all ranks' plans advance together; a round completes when each of its messages met its partner
//           (rendezvous), so a cycle shows as "nobody can advance"; buffers hold, per element, how often each rank's
//           input element is in it
//   cost    O(p^2 n) memory: meant for p up to 64 and small n
#pragma once

#include "core/collectives/algorithms.h"

#include <string>

namespace pdsim {

struct PlanVerdict {
  bool ok = true;
  std::string problem;  // the first one: who, which round, what
  PlanCost counted;
};

PlanVerdict check_plan(const Algorithm& algorithm, int size, std::int64_t count, Rank root, int ranks_per_node = 1);

}  // namespace pdsim
