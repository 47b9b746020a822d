// The collectives of a step in the order in which PyTorch's FSDP issues them, and what goes wrong beside it.
#include "core/nn/functional.h"
#include "tests/unit/sharded/sharded_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pdsim {
namespace {

using Texts = std::vector<std::string>;

Texts gathers(std::string_view units) {
  Texts texts;
  for (const char unit : units)
    texts.push_back(std::string("all_gather unit ") + (unit == 'r' ? "root" : std::string(1, unit)));
  return texts;
}

Texts operator+(Texts a, const Texts& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Texts reduces(std::string_view units) {
  Texts texts;
  for (std::string text : gathers(units)) texts.push_back(text.replace(0, 10, "reduce_scatter"));
  return texts;
}

// Rank 0's calls in the second of two steps.
Texts second_step(const ShardedOptions& options) {
  sim::WorldSpec world;
  std::size_t before = 0;
  const RunRecord run = run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(three_blocks(), Random(5));
    auto model = FullyShardedDataParallel::wrap(module, group, options);
    if (!model.ok()) return model.error();
    const Wrapper wrapper{[&](const nn::Tensor& input) { return (*model)->forward(input, "", {}); },
                          [&](const nn::Tensor& loss) { return (*model)->backward(std::span(&loss, 1)); }};
    for (int step = 0; step < 2; ++step) {
      if (env.rank == 0) before = calls_of(env.recorder.log()).size();
      PDSIM_TRY(run_step(wrapper, env.rank, step, 3));
      PDSIM_TRY((*model)->step_done());
    }
    return {};
  });
  const Texts all = calls_of(run.ranks[0].log);
  return {all.begin() + static_cast<std::ptrdiff_t>(before), all.end()};
}

TEST(ShardedOrder, OfFullShardingGathersAheadInBackward) {
  const Texts expected = gathers("rabc") + gathers("cb") + reduces("c") + gathers("a") + reduces("bar");
  EXPECT_EQ(second_step(in_three_units()), expected);
}

TEST(ShardedOrder, WithPrefetchBehindTheBackwardIsTheSameAndLater) {
  ShardedOptions options = in_three_units();
  options.backward_prefetch = BackwardPrefetch::post;
  EXPECT_EQ(second_step(options), gathers("rabc") + gathers("cb") + reduces("c") + gathers("a") + reduces("bar"));
}

TEST(ShardedOrder, WithoutPrefetchGathersEachUnitWhenItsBackwardBegins) {
  ShardedOptions options = in_three_units();
  options.backward_prefetch = BackwardPrefetch::none;
  EXPECT_EQ(second_step(options),
            gathers("rabc") + gathers("c") + reduces("c") + gathers("b") + reduces("b") + gathers("a") + reduces("ar"));
}

TEST(ShardedOrder, WithoutReshardGathersOnce) {
  ShardedOptions options = in_three_units();
  options.reshard_after_forward = false;
  EXPECT_EQ(second_step(options), gathers("rabc") + reduces("cbar"));
}

TEST(ShardedOrder, OfForwardPrefetchIsThatOfTheForward) {
  ShardedOptions options = in_three_units();
  options.forward_prefetch = true;
  options.reshard_after_forward = false;
  EXPECT_EQ(second_step(options), gathers("rabc") + reduces("cbar"));
}

TEST(ShardedOrder, OfStagesOneAndTwoReducesInBackwardAndGathersAfterTheStep) {
  for (const int stage : {1, 2}) {
    ShardedOptions options = in_three_units();
    options.stage = stage;
    EXPECT_EQ(second_step(options), reduces("cbar") + gathers("abcr")) << stage;
  }
}

TEST(ShardedUnits, ThatOneRankLeavesOutLetNoRankReturn) {
  nn::ModuleSpec spec = three_blocks();
  spec.paths = {{"full", {"embed", "a1", "act", "a2", "b1", "b2", "c1", "c2", "head"}},
                {"short", {"embed", "a1", "act", "a2", "c1", "c2", "head"}}};
  sim::WorldSpec world;
  const RunRecord run = run_sharded(world, [&](RankEnvironment& env, ProcessGroup& group) -> Status {
    nn::Module module(spec, Random(5));
    auto model = FullyShardedDataParallel::wrap(module, group, in_three_units());
    if (!model.ok()) return model.error();
    const std::string path = env.rank == 1 ? "short" : "full";
    const Wrapper wrapper{[&](const nn::Tensor& input) { return (*model)->forward(input, path, {}); },
                          [&](const nn::Tensor& loss) { return (*model)->backward(std::span(&loss, 1)); }};
    return run_step(wrapper, env.rank, 0, 3);
  });
  for (const RankResult& rank : run.ranks) EXPECT_NE(rank.log.end, RankEnd::returned) << rank.log.rank;
}

// The error of rank 0, whose program is `program`.
template <class Program>
Error error_of(const nn::ModuleSpec& spec, const ShardedOptions& options, Program program) {
  sim::WorldSpec world;
  const RunRecord run = run_sharded(world, [&](RankEnvironment&, ProcessGroup& group) -> Status {
    nn::Module module(spec, Random(5));
    auto model = FullyShardedDataParallel::wrap(module, group, options);
    if (!model.ok()) return model.error();
    return program(module, **model);
  });
  return run.ranks[0].log.error;
}

Status nothing(nn::Module&, FullyShardedDataParallel&) { return {}; }

TEST(ShardedErrors, OfUnitsNameTheUnitAndWhatDoesNotFit) {
  nn::ModuleSpec frozen = three_blocks();
  frozen.layers[4].frozen = true;  // b1
  EXPECT_NE(error_of(frozen, in_three_units(), nothing)
                .message.find("unit b: Must flatten tensors with uniform `requires_grad`"),
            std::string::npos);
  nn::ModuleSpec mixed = three_blocks();
  mixed.layers[4].dtype = DType::f32;
  EXPECT_NE(error_of(mixed, in_three_units(), nothing).message.find("uniform dtype but got f32 (b1.weight) and f64"),
            std::string::npos);
  ShardedOptions twice = in_three_units();
  twice.units[2].layers.push_back("b1");
  EXPECT_EQ(error_of(three_blocks(), twice, nothing).message, "layer b1 is in unit b and in unit c");
}

TEST(ShardedErrors, OfAForwardAroundTheWrapperNameTheParameter) {
  const Error error = error_of(three_blocks(), in_three_units(), [](nn::Module& module, FullyShardedDataParallel&) {
    return module.forward(batch_of(0, 0, 3, DType::f64), "", {}).status();
  });
  EXPECT_EQ(error.code, Code::autograd_misuse);
  EXPECT_NE(error.message.find("the storage of embed.weight is free"), std::string::npos) << error.message;
}

TEST(ShardedErrors, OfABackwardAroundTheWrapperSaySo) {
  const Error error =
      error_of(three_blocks(), in_three_units(), [](nn::Module&, FullyShardedDataParallel& model) -> Status {
        const auto output = model.forward(batch_of(0, 0, 3, DType::f64), "", {});
        if (!output.ok()) return output.error();
        nn::BackwardPass pass;
        return pass.run(std::vector{*nn::sum(*output)});
      });
  EXPECT_NE(error.message.find("without its wrapper"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace pdsim
