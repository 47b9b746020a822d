// Runs a launcher below a guard, so that no process survives, whichever of them is killed.
//
//   guard     this process: it passes signals on, waits, and at the end kills every process still below it, daemons too
//   launcher  a child, in a process group of its own; when the guard is killed it gets SIGTERM, so it ends its ranks and then
//             itself; when the launcher is killed, the kernel kills its ranks, and the guard the rest
//   limit     both killed at the same instant: the ranks die with the launcher, but not the processes they have started
#pragma once

#include "core/base/result.h"

#include <functional>

namespace pdsim {

// Returns the exit status of `body`, which runs in the launcher; 128 + n when signal n ended it. io_error: no process could be
// created.
Result<int> run_guarded(const std::function<int()>& body);

}  // namespace pdsim
