// The runs that one `pdsim run` makes of a script, and their output: one run, several schedules, or those that try cures.
//
//   schedules  the one that the flags name, then random ones with the next seeds, until one has a finding; that one is run
//              again and reported. The ranks' output in the others is not shown
//   cures      with --try-cures: runs the script once more for each argument that the finding proposes
//   threads    one; below a guard (guarded.h)
#pragma once

#include "scenarios/guests/fork_server.h"
#include "scenarios/guests/run.h"
#include "scenarios/language/scenario.h"
#include "tools/command.h"
#include "tools/scenarios/script/run_flags.h"

#include <string>

namespace pdsim::tools {

// Accepts none, measured, measured:2.5 or a time. input_invalid.
Result<scenarios::guests::Compute> compute_of(const std::string& text);

// Returns the exit status. `world` as the flags name it; `fork_server` forks the ranks of all of them, of several scripts too
// where their commands are the same.
int run_script(const RunFlags& flags, const scenarios::World& world, scenarios::guests::ForkServer& fork_server, Console& console);

}  // namespace pdsim::tools
