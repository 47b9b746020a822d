// Runs a launcher below a guard, so that no process is left, whichever of them is killed.
//
//   guard     this process: it passes signals on, waits, and at the end ends whatever still lies below it, daemons too
//   launcher  a child, in a process group of its own; when the guard is killed it gets SIGTERM, so it ends its ranks and then
//             itself; when the launcher is killed, the kernel kills its ranks, and the guard the rest
//   limit     both killed at the same instant: the ranks die with the launcher, but not what they have started
#pragma once

#include "core/base/result.h"

#include <functional>

namespace pdsim {

// The exit status of `body`, which runs in the launcher; 128 + n when signal n ended that. io_error: no process to be had.
Result<int> run_guarded(const std::function<int()>& body);

}  // namespace pdsim
