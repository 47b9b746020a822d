// pdsim diagnose --live: asks the debug server of a PyTorch job (torch.distributed.debug, 2.10 and newer) for all ranks' records
// and stacks.
//
//   asked    the server's pages, which ask every worker; the workers themselves where a page lacks their data
//   bounded  each request by `wait` and by a size; workers that do not answer are named, and the others are explained
#pragma once

#include "core/base/quantity.h"
#include "tools/command.h"
#include "tools/explain/job_output.h"

#include <string>

namespace pdsim::tools {

// `url`: http://HOST:25999. Exit status: 0 every rank answered, 2 some or all did not.
int diagnose_live(const std::string& url, Time wait, JobOutput& output, Console& console);

}  // namespace pdsim::tools
