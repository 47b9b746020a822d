// The flight records of ranks that `pdsim launch` or another launcher has started, as one run for the diagnosis.
#pragma once

#include "backends/launch/launch.h"
#include "core/group/rank_program.h"
#include "scenarios/records/saved_run.h"

#include <string>

namespace pdsim::scenarios {

// Of a job that has ended: what each rank recorded last, and how it ended.
RunRecord run_of_launch(const LaunchOutcome& outcome);

// Of the files rank_N.ring in a folder: a job whose launcher kept no account, or which still runs. How its ranks ended is known where
// it is marked in the ring (core/record/record_ring.h); else those that sit in a collective, message or store call are taken for stuck.
// Left out: files that hold no ring, whose ranks then have no record, and calls and notes that cannot be. Errors: input_invalid (there
// is none, or none is whole).
Result<SavedRun> run_of_rings(const std::string& folder);

// That the process of this rank was found stopped (SIGSTOP, a debugger): some time after the last thing that it recorded.
Note stopped_note(const RankLog& log);

// Whether `name` is that of such a file.
bool is_ring_name(const std::string& name);

}  // namespace pdsim::scenarios
