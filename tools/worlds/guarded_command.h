// A command that starts processes: its body runs below a guard (backends/launch/guarded.h), which ends them if it is killed.
#pragma once

#include "tools/console/console.h"

#include <functional>

namespace pdsim::tools {

// Returns the exit status of the body, which runs in a process of its own and prints the answer from there, also in JSON.
int run_guarded_command(Console& console, const std::function<int()>& body);

}  // namespace pdsim::tools
