// The agent of one rank of a job (gathered_job.h): starts the processes that do the rank's work as rank 0's command says, passes their
// frames on, and ends with the job. When rank 0 is gone, it ends its process and itself.
#pragma once

#include "backends/launch/job_place.h"
#include "backends/os/posix.h"
#include "core/base/quantity.h"

#include <string>

namespace pdsim {

struct AgentResult {
  int status = 0;       // for this process to exit with
  std::string problem;  // why, where there is anything to tell
};

// Blocks until the job is over. `within`: how long to look for rank 0. `listener`: rank 0's own agent, once all are there, tells
// those who come later that their place is taken; -1 for the others.
AgentResult run_agent(const JobPlace& place, const std::string& executable, Time within, Descriptor listener = {});

}  // namespace pdsim
