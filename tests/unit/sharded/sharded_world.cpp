#include "tests/unit/sharded/sharded_world.h"

#include "core/group/init_process_group.h"
#include "core/nn/functional.h"
#include "core/parallel/ddp.h"

#include <gtest/gtest.h>

#include <utility>

namespace pdsim {

RunRecord run_sharded(const sim::WorldSpec& world,
                      const std::function<Status(RankEnvironment&, ProcessGroup&)>& program,
                      const sim::RunOptions& options) {
  auto record = sim::run(world, options, [&](RankEnvironment& env) -> ProgramResult {
    auto group = init_process_group(env);
    if (!group.ok()) return {group.error(), {}};
    return {program(env, *group), {}};
  });
  EXPECT_TRUE(record.ok()) << record.error().message;
  return record.ok() ? std::move(*record) : RunRecord{};
}

nn::ModuleSpec three_blocks() {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  const auto linear = [&](const char* name, int in, int out) {
    nn::LayerSpec layer;
    layer.name = name;
    layer.in = in;
    layer.out = out;
    spec.layers.push_back(layer);
  };
  linear("embed", 3, 5);
  linear("a1", 5, 7);
  spec.layers.push_back({"act", nn::LayerKind::relu});
  linear("a2", 7, 5);
  linear("b1", 5, 3);
  linear("b2", 3, 5);
  linear("c1", 5, 6);
  linear("c2", 6, 5);
  linear("head", 5, 2);
  return spec;
}

ShardedOptions in_three_units() {
  ShardedOptions options;
  options.units = {{"a", {"a1", "act", "a2"}}, {"b", {"b1", "b2"}}, {"c", {"c1", "c2"}}};
  return options;
}

std::vector<std::string> calls_of(const RankLog& log) {
  std::vector<std::string> texts;
  for (const Call& call : log.calls)
    if (call.layer == Layer::collective)
      texts.push_back(call.name + (call.purpose.empty() ? "" : " " + text_of(call.purpose)));
  return texts;
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

namespace {

Trained parameters_of(nn::Module& module) {
  Trained trained;
  for (const nn::Tensor& p : module.parameters()) trained[p.name()] = p.values();
  return trained;
}

void expect_all_returned(const RunRecord& run) {
  for (const RankResult& rank : run.ranks) EXPECT_EQ(rank.log.end, RankEnd::returned) << rank.log.error.message;
}

}  // namespace

Trained trained_by_ddp(int ranks, int steps, const nn::OptimizerSpec& spec) {
  Trained trained;
  sim::WorldSpec world;
  world.ranks_per_node = ranks;
  expect_all_returned(run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(three_blocks(), Random(5));
    auto ddp = DistributedDataParallel::wrap(module, group, {});
    if (!ddp.ok()) return ddp.error();
    auto optimizer = nn::Optimizer::make(spec, module.parameters());
    const Wrapper wrapper{[&](const nn::Tensor& input) { return (*ddp)->forward(input, "", {}); },
                          [&](const nn::Tensor& loss) { return (*ddp)->backward(std::span(&loss, 1)); }};
    for (int step = 0; step < steps; ++step) {
      optimizer->zero_grad();
      PDSIM_TRY(run_step(wrapper, env.rank, step, 3));
      optimizer->step();
    }
    if (env.rank == 0) trained = parameters_of(module);
    return {};
  }));
  return trained;
}

Trained trained_sharded(int ranks, int steps, const nn::OptimizerSpec& spec, const ShardedOptions& options) {
  Trained trained;
  sim::WorldSpec world;
  world.ranks_per_node = ranks;
  expect_all_returned(run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(three_blocks(), Random(5));
    auto model = FullyShardedDataParallel::wrap(module, group, options);
    if (!model.ok()) return model.error();
    FullyShardedDataParallel& sharded = **model;
    auto optimizer = nn::Optimizer::make(spec, sharded.shards());
    const Wrapper wrapper{[&](const nn::Tensor& input) { return sharded.forward(input, "", {}); },
                          [&](const nn::Tensor& loss) { return sharded.backward(std::span(&loss, 1)); }};
    for (int step = 0; step < steps; ++step) {
      sharded.zero_grad();
      PDSIM_TRY(run_step(wrapper, env.rank, step, 3));
      optimizer->step();
      PDSIM_TRY(sharded.step_done());
    }
    PDSIM_TRY(sharded.gather());
    if (env.rank == 0) trained = parameters_of(module);
    return sharded.release();
  }));
  return trained;
}

}  // namespace pdsim
