// Runs a proof in a process of its own: plans in C++ are user code, and code that divides by zero or leaves a vector ends the
// process that runs it. Here it ends the fork, and the verdict names the rank and the round.
//
//   limits    30 s of processor time and 5 minutes of real time; a plan that takes longer is refused as one that never returns
//   threads   any; the fork runs only the caller's thread, and only the plan and the checker
//   fallback  where the system lacks processes or memory, the proof runs in this process
#pragma once

#include "core/collectives/proof/plan_proof.h"

namespace pdsim {

PlanProof prove_apart(const Algorithm& algorithm, const ProofOptions& options = {});

}  // namespace pdsim
