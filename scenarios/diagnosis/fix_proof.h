// Finds the variants that prove a fix, and its cost: measured from the runs, never estimated.
//
//   proof     a variant of the same file that ended ok with every expectation held, still with DDP: dropping it is not a cure.
//             A variant that shows the pitfall, by `shows` or by a name that begins with `broken`, is not a proof
//             Another world (backend, links, debug level) is not one either, except for findings that it cures
//   cost      collectives and time per step on rank 0, averaged over the steps that both runs finished before the broken
//             one went wrong, without those in which DDP rebuilt its buckets; negative when the fix is cheaper.
//             For real worlds only the collectives are reported: one run's times there are mostly noise
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct FixProof {
  const Report* report = nullptr;
  std::string settings;  // "ddp.find_unused_parameters: true"
  int steps = 0;         // compared; 0: no step could be compared, nothing was measured
  double collectives = 0.0;
  Time time{};
  double percent = 0.0;
};

std::vector<FixProof> fix_proofs(const Report& broken, const std::vector<Report>& reports);

// "adds one collective and 12.5us (+4.1%) per step"; empty where nothing was measured.
std::string cost_text(const FixProof& proof);

}  // namespace pdsim::scenarios
