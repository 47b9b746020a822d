// Tables of the report: what a step asks of each device, and what the operations did that the file speaks of.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Memory and work of DataParallel's devices or of DDP's ranks, a line for each; empty where nothing noted them.
std::string devices_section(const Report& report);

// The operations of `expect.operations`, equal ranks in one line; empty without any.
std::string operations_section(const Report& report);

}  // namespace pdsim::scenarios
