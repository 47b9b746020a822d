// Proves an algorithm: the plan checker over every number of ranks, root, placement and count around the number of
// ranks, in and out of place, smallest first; and the counted cost against the row's closed form and the lower bound.
#pragma once

#include "core/collectives/proof/plan_checker.h"

#include <string>

namespace pdsim {

struct ProofOptions {
  int min_size = 1;
  int max_size = 64;
  bool every_root = true;  // false: the first, the last and one between
  int ranks_per_node = 0;  // 0: every placement that makes a difference
  std::int64_t count = -1;  // elements, besides the counts around the number of ranks
};

struct PlanProof {
  bool ok = true;
  std::int64_t cases = 0;  // checked so far
  PlanCase at;             // not ok: the smallest failing case
  std::string problem;     // how it fails
  std::string drawn;       // the failing round
  Rank rank = 0;           // its rank, and which of the rank's rounds, as in PlanVerdict; 0 and 0 for a wrong cost
  int round = 0;
};

PlanProof prove(const Algorithm& algorithm, const ProofOptions& options = {});
PlanProof prove(const Algorithm& algorithm, const PlanSource& plans, const ProofOptions& options = {});

}  // namespace pdsim
