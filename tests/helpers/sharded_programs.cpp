#include "tests/helpers/sharded_programs.h"

#include "core/group/new_group.h"
#include "core/nn/functional.h"
#include "core/parallel/ddp.h"
#include "core/parallel/rank_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace pdsim {
namespace {

nn::LayerSpec linear(const char* name, int in, int out) {
  nn::LayerSpec layer;
  layer.name = name;
  layer.in = in;
  layer.out = out;
  return layer;
}

Trained parameters_of(nn::Module& module) {
  Trained trained;
  for (const nn::Tensor& p : module.parameters()) trained[p.name()] = p.values();
  return trained;
}

// `tolerance` 0: the same bits.
Status compare(const Trained& got, const Trained& wanted, double tolerance, const std::string& what) {
  for (const auto& [name, values] : wanted)
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double mine = got.at(name).at(i);
      if (mine == values[i] || std::abs(mine - values[i]) <= tolerance * std::max(1.0, std::abs(values[i]))) continue;
      return Error{Code::wrong_data, fmt::format("{}: {}[{}] is {} and should be {}", what, name, i, mine, values[i]), {}};
    }
  return {};
}

std::vector<nn::OptimizerSpec> two_optimizers() {
  nn::OptimizerSpec momentum, adam;
  momentum.momentum = 0.9;
  adam.kind = nn::OptimizerSpec::Kind::adam;
  adam.lr = 0.01;
  return {momentum, adam};
}

std::vector<ShardedOptions> some_ways_to_shard() {
  std::vector<ShardedOptions> ways(6, in_three_units());
  ways[0].stage = 1;
  ways[1].stage = 2;
  ways[3].reshard_after_forward = false;
  ways[4].backward_prefetch = BackwardPrefetch::none;
  ways[5].backward_prefetch = BackwardPrefetch::post;
  ways[5].forward_prefetch = true;
  return ways;
}

Status compare_ways(ProcessGroup& group, double tolerance) {
  constexpr int steps = 2;
  for (const nn::OptimizerSpec& optimizer : two_optimizers()) {
    const Result<Trained> by_ddp = train_by_ddp(group, steps, optimizer);
    if (!by_ddp.ok()) return by_ddp.error();
    for (const ShardedOptions& way : some_ways_to_shard()) {
      const Result<Trained> sharded = train_sharded(group, steps, optimizer, way);
      if (!sharded.ok()) return sharded.error();
      PDSIM_TRY(compare(*sharded, *by_ddp, tolerance,
                        fmt::format("stage {} on {} ranks", way.stage, group.size())));
    }
  }
  return {};
}

// Ranks 0, 1 and 2, 3 have the parts of one model each; 0, 2 and 1, 3 the replicas of one part.
Status compare_mesh(GroupMaker& maker, ProcessGroup& world) {
  const int rank = world.rank();
  std::unique_ptr<ProcessGroup> tp, dp, alone;
  const auto make = [&](const std::vector<std::vector<Rank>>& lines, std::unique_ptr<ProcessGroup>& mine) -> Status {
    for (const std::vector<Rank>& line : lines) {
      auto made = maker.new_group(line);
      if (!made.ok()) return made.error();
      if (std::find(line.begin(), line.end(), rank) != line.end()) mine = std::move(*made);
    }
    return {};
  };
  PDSIM_TRY(make({{0, 1}, {2, 3}}, tp));
  PDSIM_TRY(make({{0, 2}, {1, 3}}, dp));
  PDSIM_TRY(make({{0}, {1}, {2}, {3}}, alone));
  PDSIM_TRY(compare_ways(*tp, 0.0));
  constexpr int steps = 3;
  const Result<Trained> split = train_in_parts(*tp, dp.get(), dp->rank(), steps);
  const Result<Trained> whole = train_in_parts(*alone, dp.get(), dp->rank(), steps);
  if (!split.ok() || !whole.ok()) return split.ok() ? whole.status() : split.status();
  Trained wanted;
  for (const auto& [name, values] : *whole) wanted[name] = part_of(name, values, tp->rank(), tp->size());
  return compare(*split, wanted, 1e-12, "split layers on a mesh of two by two");
}

}  // namespace

nn::ModuleSpec three_blocks() {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  spec.layers = {linear("embed", 3, 5), linear("a1", 5, 7), {"act", nn::LayerKind::relu}, linear("a2", 7, 5),
                 linear("b1", 5, 3),    linear("b2", 3, 5), linear("c1", 5, 6),           linear("c2", 6, 5),
                 linear("head", 5, 2)};
  return spec;
}

ShardedOptions in_three_units() {
  ShardedOptions options;
  options.units = {{"a", {"a1", "act", "a2"}}, {"b", {"b1", "b2"}}, {"c", {"c1", "c2"}}};
  return options;
}

nn::ModuleSpec mlp_in_parts(int rank, int ranks) {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  spec.layers = {linear("embed", 3, 6), linear("up", 6, 8), {"act", nn::LayerKind::relu}, linear("down", 8, 4),
                 linear("head", 4, 2)};
  if (ranks == 1) return spec;
  spec.layers[1].split = nn::TensorSplit::colwise;
  spec.layers[3].split = nn::TensorSplit::rowwise;
  for (nn::LayerSpec& layer : spec.layers) {
    layer.split_rank = rank;
    layer.split_ranks = ranks;
  }
  return spec;
}

nn::Tensor batch_of(int rank, int step, std::int64_t width, DType dtype) {
  constexpr std::int64_t rows = 4;
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * width; ++i)
    values.push_back(0.3 * static_cast<double>((i * 7 + rank * 5 + step * 3) % 11) - 1.1);
  return nn::Tensor::from(values, {rows, width}, dtype);
}

Status run_step(const Wrapper& wrapper, int rank, int step, std::int64_t width) {
  const auto output = wrapper.forward(batch_of(rank, step, width, DType::f64));
  if (!output.ok()) return output.error();
  const auto loss = nn::mse_loss(*output, nn::Tensor::zeros(output->shape(), output->dtype()));
  if (!loss.ok()) return loss.error();
  return wrapper.backward(*loss);
}

Result<Trained> train_by_ddp(ProcessGroup& group, int steps, const nn::OptimizerSpec& spec) {
  nn::Module module(three_blocks(), Random(5));
  auto ddp = DistributedDataParallel::wrap(module, group, {});
  if (!ddp.ok()) return ddp.error();
  auto optimizer = nn::Optimizer::make(spec, module.parameters());
  const Wrapper wrapper{[&](const nn::Tensor& input) { return (*ddp)->forward(input, "", {}); },
                        [&](const nn::Tensor& loss) { return (*ddp)->backward(std::span(&loss, 1)); }};
  for (int step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    PDSIM_TRY(run_step(wrapper, group.rank(), step, 3));
    optimizer->step();
  }
  return parameters_of(module);
}

Result<Trained> train_sharded(ProcessGroup& group, int steps, const nn::OptimizerSpec& spec,
                              const ShardedOptions& options) {
  nn::Module module(three_blocks(), Random(5));
  auto model = FullyShardedDataParallel::wrap(module, group, options);
  if (!model.ok()) return model.error();
  FullyShardedDataParallel& sharded = **model;
  auto optimizer = nn::Optimizer::make(spec, sharded.shards());
  const Wrapper wrapper{[&](const nn::Tensor& input) { return sharded.forward(input, "", {}); },
                        [&](const nn::Tensor& loss) { return sharded.backward(std::span(&loss, 1)); }};
  for (int step = 0; step < steps; ++step) {
    sharded.zero_grad();
    PDSIM_TRY(run_step(wrapper, group.rank(), step, 3));
    optimizer->step();
    PDSIM_TRY(sharded.step_done());
  }
  PDSIM_TRY(sharded.gather());
  Trained trained = parameters_of(module);
  PDSIM_TRY(sharded.release());
  return trained;
}

Result<Trained> train_in_parts(ProcessGroup& tp, ProcessGroup* dp, int reads, int steps) {
  nn::Module module(mlp_in_parts(tp.rank(), tp.size()), Random(9));
  module.set_tensor_exchange(tensor_exchange_over(tp));
  std::unique_ptr<DistributedDataParallel> ddp;
  if (dp != nullptr) {
    auto wrapped = DistributedDataParallel::wrap(module, *dp, {});
    if (!wrapped.ok()) return wrapped.error();
    ddp = std::move(*wrapped);
  }
  auto optimizer = nn::Optimizer::make({}, module.parameters());
  const Wrapper wrapper{
      [&](const nn::Tensor& input) { return ddp ? ddp->forward(input, "", {}) : module.forward(input, "", {}); },
      [&](const nn::Tensor& loss) {
        nn::BackwardPass pass;
        return ddp ? ddp->backward(std::span(&loss, 1)) : pass.run(std::span(&loss, 1));
      }};
  for (int step = 0; step < steps; ++step) {
    optimizer->zero_grad();
    PDSIM_TRY(run_step(wrapper, reads, step, 3));
    optimizer->step();
  }
  return parameters_of(module);
}

std::vector<double> part_of(const std::string& name, const std::vector<double>& whole, int rank, int ranks) {
  const bool by_rows = name == "up.weight" || name == "up.bias", by_columns = name == "down.weight";
  if (!by_rows && !by_columns) return whole;
  const std::size_t parts = static_cast<std::size_t>(ranks), mine = static_cast<std::size_t>(rank);
  const std::size_t width = by_rows ? whole.size() : 8, some = width / parts;
  std::vector<double> part;
  for (std::size_t row = 0; row < whole.size(); row += width)
    for (std::size_t i = 0; i < some; ++i) part.push_back(whole[row + mine * some + i]);
  return part;
}

Status sharded_equals_ddp(RankEnvironment& env, Store& store, ProcessGroup& world) {
  GroupMaker maker(env.backend, store, env.rank, env.world_size, env.recorder);
  PDSIM_TRY(compare_ways(world, 1e-12));
  return compare_mesh(maker, world);
}

}  // namespace pdsim
