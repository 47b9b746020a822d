// Tables of the report: the load of a step on each device, and the results of the operations that the file names.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Memory and work of DataParallel's devices or of DDP's ranks, a line for each; empty without notes on them.
std::string devices_section(const Report& report);

// The operations of `expect.operations`, equal ranks in one line; empty without any.
std::string operations_section(const Report& report);

}  // namespace pdsim::scenarios
