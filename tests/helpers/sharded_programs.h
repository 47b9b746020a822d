// Models that are sharded or split over a group and trained, and the same under DistributedDataParallel: in every world.
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"
#include "core/nn/optimizer.h"
#include "core/sharded/fully_sharded.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pdsim {

// embed and head are the root's; units a, b and c of two linear layers each, with a relu in the first.
nn::ModuleSpec three_blocks();
ShardedOptions in_three_units();
// Linear layers of which `up` and `down` are split; of one rank they are whole.
nn::ModuleSpec mlp_in_parts(int rank, int ranks);

// A batch that depends on rank and step.
nn::Tensor batch_of(int rank, int step, std::int64_t width, DType dtype);

struct Wrapper {
  std::function<Result<nn::Tensor>(const nn::Tensor& input)> forward;
  std::function<Status(const nn::Tensor& loss)> backward;
};
// Forward, loss and backward.
Status run_step(const Wrapper& wrapper, int rank, int step, std::int64_t width);

// Parameters after these steps, by name. Of `group`, whose rank says which batches this rank reads.
using Trained = std::map<std::string, std::vector<double>>;
Result<Trained> train_by_ddp(ProcessGroup& group, int steps, const nn::OptimizerSpec& optimizer);
Result<Trained> train_sharded(ProcessGroup& group, int steps, const nn::OptimizerSpec& optimizer,
                              const ShardedOptions& options);
// mlp_in_parts over `tp`, of which all ranks read the batch `reads`; under DDP over `dp` where there is one. Parameters are those of this
// part.
Result<Trained> train_in_parts(ProcessGroup& tp, ProcessGroup* dp, int reads, int steps);
// The part of a parameter of mlp_in_parts that this rank has.
std::vector<double> part_of(const std::string& name, const std::vector<double>& whole, int rank, int ranks);

// For four ranks: several ways to shard against DDP, over pairs of ranks (bit for bit) and over all four (to 1e-12), and split layers on
// a mesh of two by two against whole ones. Error: wrong_data, which names the case.
Status sharded_equals_ddp(RankEnvironment& env, Store& store, ProcessGroup& world);

}  // namespace pdsim
