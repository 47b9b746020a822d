// Reads from the environment which rank of which job this process is, when mpirun, srun, torchrun or `pdsim launch` has started
// it.
//
//   torchrun  RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT; set by `pdsim launch` too. These win. Where torchrun's own store uses
//             MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True), rank 0 listens on one of the sixteen ports after it
//   mpirun    OMPI_COMM_WORLD_RANK, _SIZE and _LOCAL_SIZE; other MPIs' PMI_RANK and PMI_SIZE
//   srun      SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS; not the batch script itself, which is not a step, nor a step of
//             one task, which is an interactive shell
//   where     rank 0 listens: at MASTER_ADDR and MASTER_PORT. Without them, for a job of mpirun or srun on one machine, at a
//             name in that machine's memory derived from the job's own name; for srun on several, on the first machine of
//             SLURM_STEP_NODELIST or SLURM_JOB_NODELIST, where srun puts rank 0 by default, at one of sixteen ports
//             from 15000 to 30999 derived from the numbers of job and step
#pragma once

#include "backends/net/secret.h"
#include "core/base/result.h"
#include "core/base/types.h"

#include <functional>
#include <optional>
#include <string>

namespace pdsim {

struct JobPlace {
  Rank rank = 0;
  int size = 1;
  std::string by;                                      // the launcher, in words
  std::string host;                                    // empty: this machine's memory
  int port = 0;                                        // the first port that rank 0 may listen on
  int ports = 1;                                       // the number of ports from there
  std::string source = "MASTER_ADDR and MASTER_PORT";  // where host and port come from
  std::string name;                                    // identifies this job
  bool is_mpi = false;                                 // started by an mpirun, directly or through another program
  Secret secret{};                                     // the same on all ranks, or none on all; set by the caller
  std::string version;  // of pdsim, the same on all ranks; set by the caller
};

// `variable` is getenv. Nothing: no job has started this process. Errors: invalid_argument, naming the missing or wrong variable.
Result<std::optional<JobPlace>> job_place(const std::function<const char*(const char*)>& variable);

}  // namespace pdsim
