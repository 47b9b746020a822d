// Commands of real worlds under mpirun, srun, torchrun or `pdsim launch`: they join the ranks that are already there.
#pragma once

#include "backends/launch/gathered_job.h"
#include "tools/command.h"

#include <functional>
#include <optional>
#include <string>

namespace pdsim::tools {

struct JoinFlags {
  std::string within = "30s";  // the time for a job's ranks to join
  std::string secret;          // env:NAME or file:PATH; empty: PDSIM_JOIN_SECRET, where it is set
};
void add_join_flags(CLI::App& app, JoinFlags& flags);

// This process's place in such a job; nothing where no job has started it, or `world` is the simulated one, which has its ranks
// to itself. Errors: invalid_argument.
Result<std::optional<JobPlace>> job_of(const std::string& world, const JoinFlags& flags);

// Reads the secret; `variable` is getenv. invalid_argument, which never shows the secret: there is none where the flag says.
Result<Secret> join_secret(const std::string& flag, const std::function<const char*(const char*)>& variable);

// Without a place: runs `body` with no job. Rank 0: gathers the others, then runs `body`; sends its status to all, and the reason
// where nothing could be run. Others: are agents until rank 0 is done. Returns the exit status.
int run_joined(const std::optional<JobPlace>& place, const JoinFlags& flags, Console& console,
               const std::function<int(Job*)>& body);

}  // namespace pdsim::tools
