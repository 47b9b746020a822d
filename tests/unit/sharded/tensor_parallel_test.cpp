// Split linear layers over a group, beside the whole layers in one process.
#include "core/nn/functional.h"
#include "core/parallel/rank_exchange.h"
#include "tests/unit/sharded/sharded_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace pdsim {
namespace {

nn::ModuleSpec mlp_in_parts(int rank, int ranks) {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  const auto add = [&](const char* name, nn::LayerKind kind, int in, int out, nn::TensorSplit split) {
    nn::LayerSpec layer;
    layer.name = name;
    layer.kind = kind;
    layer.in = in;
    layer.out = out;
    layer.split = ranks > 1 ? split : nn::TensorSplit::none;
    layer.split_rank = rank;
    layer.split_ranks = ranks;
    spec.layers.push_back(layer);
  };
  add("embed", nn::LayerKind::linear, 3, 6, nn::TensorSplit::none);
  add("up", nn::LayerKind::linear, 6, 8, nn::TensorSplit::colwise);
  add("act", nn::LayerKind::relu, 0, 0, nn::TensorSplit::none);
  add("down", nn::LayerKind::linear, 8, 4, nn::TensorSplit::rowwise);
  add("head", nn::LayerKind::linear, 4, 2, nn::TensorSplit::none);
  return spec;
}

struct Split {
  std::vector<Trained> of_rank;
  std::vector<std::string> calls;  // of rank 0
};

// Three steps of all ranks with the same batches.
Split train_in_parts(int ranks) {
  Split split;
  split.of_rank.resize(static_cast<std::size_t>(ranks));
  sim::WorldSpec world;
  world.ranks_per_node = ranks;
  const RunRecord run = run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(mlp_in_parts(env.rank, ranks), Random(9));
    module.set_tensor_exchange(tensor_exchange_over(group));
    auto optimizer = nn::Optimizer::make({}, module.parameters());
    const Wrapper wrapper{[&](const nn::Tensor& input) { return module.forward(input, "", {}); },
                          [&](const nn::Tensor& loss) {
                            nn::BackwardPass pass;
                            return pass.run(std::vector{loss});
                          }};
    for (int step = 0; step < 3; ++step) {
      optimizer->zero_grad();
      PDSIM_TRY(run_step(wrapper, 0, step, 3));
      optimizer->step();
    }
    for (const nn::Tensor& p : module.parameters())
      split.of_rank[static_cast<std::size_t>(env.rank)][p.name()] = p.values();
    return {};
  });
  EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned) << run.ranks[0].log.error.message;
  split.calls = calls_of(run.ranks[0].log);
  return split;
}

void expect_equal(const std::vector<double>& got, const std::vector<double>& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-12 * std::max(1.0, std::abs(want[i]))) << what << " " << i;
}

TEST(TensorParallel, TrainsToTheParametersOfTheWholeLayers) {
  const Trained whole = train_in_parts(1).of_rank[0];
  for (const int ranks : {2, 4}) {
    const auto n = static_cast<std::size_t>(ranks);
    const Split split = train_in_parts(ranks);
    std::vector<double> up, up_bias, down(8 * 4);
    for (std::size_t r = 0; r < n; ++r) {
      const Trained& mine = split.of_rank[r];
      up.insert(up.end(), mine.at("up.weight").begin(), mine.at("up.weight").end());
      up_bias.insert(up_bias.end(), mine.at("up.bias").begin(), mine.at("up.bias").end());
      const std::vector<double>& part = mine.at("down.weight");
      for (std::size_t i = 0; i < part.size(); ++i) down[i / (8 / n) * 8 + r * (8 / n) + i % (8 / n)] = part[i];
      for (const char* name : {"embed.weight", "embed.bias", "down.bias", "head.weight", "head.bias"})
        expect_equal(mine.at(name), whole.at(name), name);
    }
    expect_equal(up, whole.at("up.weight"), "up.weight");
    expect_equal(up_bias, whole.at("up.bias"), "up.bias");
    expect_equal(down, whole.at("down.weight"), "down.weight");
  }
}

TEST(TensorParallel, SumsOnceInForwardAndOnceInBackward) {
  const std::vector<std::string> step{"all_reduce layer down", "all_reduce layer up"};
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), step.begin(), step.end());
  EXPECT_EQ(train_in_parts(2).calls, expected);
}

}  // namespace
}  // namespace pdsim
