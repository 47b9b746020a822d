// The agent of one rank of a job (gathered_job.h): starts the processes that do the rank's work, as rank 0's command requests,
// forwards their frames, and ends with the job. When rank 0 is gone, it ends its process and itself.
#pragma once

#include "backends/launch/job_place.h"
#include "backends/os/posix.h"
#include "core/base/quantity.h"

#include <string>

namespace pdsim {

struct AgentResult {
  int status = 0;       // this process's exit status
  std::string problem;  // why, if there is a reason to report
};

// Blocks until the job is over. `within`: how long to look for rank 0. `listener`: rank 0's own agent uses it, once all ranks
// have joined, to tell late processes that their place is taken; -1 for the others.
AgentResult run_agent(const JobPlace& place, const std::string& executable, Time within, Descriptor listener = {});

}  // namespace pdsim
