// The flight records of ranks that `pdsim launch` or another launcher has started, as one run for the diagnosis.
#pragma once

#include "backends/launch/launch.h"
#include "core/group/rank_program.h"
#include "scenarios/records/saved_run.h"

#include <string>

namespace pdsim::scenarios {

// For a job that has ended: each rank's last record, and how it ended.
RunRecord run_of_launch(const LaunchOutcome& outcome);

// Reads the files rank_N.ring in a folder: a job whose launcher kept no account, or which is still running. How its ranks ended
// is known where it is marked in the ring (core/record/record_ring.h); otherwise ranks in a collective, message or store call
// count as stuck. Left out: files without a ring, whose ranks then have no record, and invalid calls and notes. Errors:
// input_invalid (there is none, or none is whole).
Result<SavedRun> run_of_rings(const std::string& folder);

// The note that this rank's process was found stopped (SIGSTOP, a debugger), some time after its last record.
Note stopped_note(const RankLog& log);

// Whether `name` is that of such a file.
bool is_ring_name(const std::string& name);

}  // namespace pdsim::scenarios
