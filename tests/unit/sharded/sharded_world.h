// Models that are sharded and trained in the simulated world, and the same under DistributedDataParallel.
#pragma once

#include "sim/run.h"
#include "tests/helpers/sharded_programs.h"

#include <functional>
#include <string>
#include <vector>

namespace pdsim {

// Every rank joins the default group and runs `program`.
RunRecord run_sharded(const sim::WorldSpec& world,
                      const std::function<Status(RankEnvironment&, ProcessGroup&)>& program,
                      const sim::RunOptions& options = {});

// "all_gather unit a", ... in order of issue.
std::vector<std::string> calls_of(const RankLog& log);

// The parameters of rank 0 after these steps, by name.
Trained trained_by_ddp(int ranks, int steps, const nn::OptimizerSpec& optimizer);
Trained trained_sharded(int ranks, int steps, const nn::OptimizerSpec& optimizer, const ShardedOptions& options);

}  // namespace pdsim
