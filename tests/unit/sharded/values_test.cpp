// A sharded model has the parameters of DistributedDataParallel after the same steps.
#include "core/nn/functional.h"
#include "tests/unit/sharded/sharded_world.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim {
namespace {

std::vector<nn::OptimizerSpec> optimizers() {
  nn::OptimizerSpec momentum, adam;
  momentum.momentum = 0.9;
  adam.kind = nn::OptimizerSpec::Kind::adam;
  adam.lr = 0.01;
  return {{}, momentum, adam};
}

std::vector<ShardedOptions> every_way_to_shard() {
  std::vector<ShardedOptions> ways(2, in_three_units());
  ways[0].stage = 1;
  ways[1].stage = 2;
  for (const auto prefetch : {BackwardPrefetch::none, BackwardPrefetch::pre, BackwardPrefetch::post})
    for (const bool flag : {false, true}) {
      ways.push_back(in_three_units());
      ways.back().backward_prefetch = prefetch;
      ways.back().reshard_after_forward = flag;
      ways.back().forward_prefetch = !flag;
    }
  return ways;
}

TEST(ShardedValues, AreThoseOfDdpBitForBitWithTwoRanks) {
  for (const nn::OptimizerSpec& optimizer : optimizers()) {
    const Trained by_ddp = trained_by_ddp(2, 4, optimizer);
    for (const ShardedOptions& way : every_way_to_shard())
      EXPECT_EQ(trained_sharded(2, 4, optimizer, way), by_ddp)
          << "stage " << way.stage << ", prefetch " << name_of(way.backward_prefetch);
  }
}

TEST(ShardedValues, AreThoseOfDdpUpToTheOrderOfSumsWithMoreRanks) {
  for (const int ranks : {3, 4, 5})
    for (const nn::OptimizerSpec& optimizer : optimizers()) {
      const Trained by_ddp = trained_by_ddp(ranks, 4, optimizer);
      for (const int stage : {1, 2, 3}) {
        ShardedOptions way = in_three_units();
        way.stage = stage;
        const Trained sharded = trained_sharded(ranks, 4, optimizer, way);
        for (const auto& [name, values] : by_ddp)
          for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(sharded.at(name)[i], values[i], 1e-12 * std::max(1.0, std::abs(values[i]))) << name;
      }
    }
}

TEST(ShardedValues, DoNotDependOnHowLayersAreGroupedIntoUnits) {
  ShardedOptions whole, each;
  for (const nn::LayerSpec& layer : three_blocks().layers) each.units.push_back({layer.name, {layer.name}});
  EXPECT_EQ(trained_sharded(2, 3, {}, whole), trained_sharded(2, 3, {}, each));
}

// One step of two micro-batches, the first inside no_sync, and the gradient of everything that way.
Trained gradients_of_two(bool no_sync, int stage) {
  Trained trained;
  sim::WorldSpec world;
  run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(three_blocks(), Random(5));
    ShardedOptions options = in_three_units();
    options.stage = stage;
    auto model = FullyShardedDataParallel::wrap(module, group, options);
    if (!model.ok()) return model.error();
    const Wrapper wrapper{[&](const nn::Tensor& input) { return (*model)->forward(input, "", {}); },
                          [&](const nn::Tensor& loss) { return (*model)->backward(std::span(&loss, 1)); }};
    (*model)->set_require_backward_grad_sync(!no_sync);
    PDSIM_TRY(run_step(wrapper, env.rank, 0, 3));
    EXPECT_EQ((*model)->gradients_synchronised(), !no_sync);
    (*model)->set_require_backward_grad_sync(true);
    PDSIM_TRY(run_step(wrapper, env.rank, 1, 3));
    EXPECT_TRUE((*model)->gradients_synchronised());
    if (env.rank == 0)
      for (const nn::Tensor& shard : (*model)->shards()) trained[shard.name()] = shard.grad().values();
    return {};
  });
  return trained;
}

TEST(ShardedValues, OfNoSyncAreThoseOfTwoReductions) {
  for (const int stage : {1, 2, 3}) {
    const Trained once = gradients_of_two(true, stage), twice = gradients_of_two(false, stage);
    ASSERT_EQ(once.size(), 4U);
    for (const auto& [name, values] : twice)
      for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(once.at(name)[i], values[i], 1e-15) << name;
  }
}

TEST(ShardedClip, GivesTheNormOfTheWholeGradientOnEveryRank) {
  std::vector<double> norms;
  for (const int ranks : {1, 2, 4}) {
    sim::WorldSpec world;
    world.ranks_per_node = ranks;
    std::vector<double> of_rank(static_cast<std::size_t>(ranks));
    run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
      nn::Module module(three_blocks(), Random(5));
      auto model = FullyShardedDataParallel::wrap(module, group, in_three_units());
      if (!model.ok()) return model.error();
      const Wrapper wrapper{[&](const nn::Tensor& input) { return (*model)->forward(input, "", {}); },
                            [&](const nn::Tensor& loss) { return (*model)->backward(std::span(&loss, 1)); }};
      PDSIM_TRY(run_step(wrapper, 0, 0, 3));  // the same batch everywhere
      const auto norm = (*model)->clip_grad_norm({.max_norm = 0.01});
      if (!norm.ok()) return norm.error();
      of_rank[static_cast<std::size_t>(env.rank)] = *norm;
      const auto after = (*model)->clip_grad_norm({.max_norm = 1.0});
      EXPECT_NEAR(after.ok() ? *after : 0.0, 0.01, 1e-5);
      return {};
    });
    for (const double norm : of_rank) EXPECT_EQ(norm, of_rank[0]);
    norms.push_back(of_rank[0]);
  }
  EXPECT_GT(norms[0], 0.0);
  EXPECT_NEAR(norms[1], norms[0], 1e-12);
  EXPECT_NEAR(norms[2], norms[0], 1e-12);
}

}  // namespace
}  // namespace pdsim
