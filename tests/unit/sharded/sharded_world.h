// Models that are sharded and trained in the simulated world, and the same under DistributedDataParallel.
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/nn/optimizer.h"
#include "core/sharded/fully_sharded.h"
#include "sim/run.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Every rank joins the default group and runs `program`.
RunRecord run_sharded(const sim::WorldSpec& world,
                      const std::function<Status(RankEnvironment&, ProcessGroup&)>& program,
                      const sim::RunOptions& options = {});

// embed and head are the root's; units a, b and c of two linear layers each, with a relu in the first.
nn::ModuleSpec three_blocks();
ShardedOptions in_three_units();

// "all_gather unit a", ... in order of issue.
std::vector<std::string> calls_of(const RankLog& log);

// A loss of a batch that depends on rank and step.
nn::Tensor batch_of(int rank, int step, std::int64_t width, DType dtype);

struct Wrapper {
  std::function<Result<nn::Tensor>(const nn::Tensor& input)> forward;
  std::function<Status(const nn::Tensor& loss)> backward;
};
// Forward, loss and backward.
Status run_step(const Wrapper& wrapper, int rank, int step, std::int64_t width);

// The parameters of rank 0 after these steps, by name.
using Trained = std::map<std::string, std::vector<double>>;
Trained trained_by_ddp(int ranks, int steps, const nn::OptimizerSpec& optimizer);
Trained trained_sharded(int ranks, int steps, const nn::OptimizerSpec& optimizer, const ShardedOptions& options);

}  // namespace pdsim
