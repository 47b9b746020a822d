// pdsim diagnose --live: asks the debug server of a PyTorch job (torch.distributed.debug, 2.10 and newer) for all ranks' records
// and stacks.
//
//   asked    the server's pages, which ask every worker; the workers themselves where a page lacks their data
//   bounded  each request by `wait` and by a size; workers that do not answer are named, and the others are explained
//   twice    when nothing is found and a call is open, the call may be in flight, so it asks once more after `again`: a call that
//            hangs is then old enough to be recognised
#pragma once

#include "core/base/quantity.h"
#include "tools/command.h"
#include "tools/explain/job_output.h"

#include <string>

namespace pdsim::tools {

struct LiveTimes {
  Time wait;   // for each answer
  Time again;  // before it asks once more; zero: it asks once
};

// `url`: http://HOST:25999. Exit status: 0 every rank answered, 2 some or all did not.
int diagnose_live(const std::string& url, const LiveTimes& times, JobOutput& output, Console& console);

}  // namespace pdsim::tools
