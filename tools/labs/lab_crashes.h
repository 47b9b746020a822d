// The files that a crash leaves on disk, for a crash at every moment of a run: the whole job dies there, and the files are read
// as a restart would.
//
//   moments   enumerated from a run without a crash: where an operation begins or ends on some rank, and half-way between two of
//             these
//   whole     a file that load_checkpoint would accept
//   cost      a run of the simulated world for each moment, at most `most_crashes`; of more moments, an even selection
#pragma once

#include "core/base/result.h"
#include "core/group/rank_program.h"
#include "scenarios/language/scenario.h"

#include <optional>
#include <string>

namespace pdsim::tools {

inline constexpr std::size_t most_crashes = 400;

struct LostCheckpoint {
  Time at{};          // of the crash
  std::string files;  // the state of the disk then: "run/model is cut short"
};

struct CrashTrials {
  std::size_t tried = 0;
  bool any = false;  // a checkpoint is ever whole
  std::optional<LostCheckpoint> lost;  // the earliest crash after the first whole checkpoint that finds none
};

// `whole` is a run of the scenario with this strategy and without a crash. Errors: those of the world.
Result<CrashTrials> crash_everywhere(const scenarios::Scenario& scenario, const std::string& strategy, const RunRecord& whole);

}  // namespace pdsim::tools
