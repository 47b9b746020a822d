// Shards that a master drives over RPC: when they compute at once, and what goes wrong.

#include "core/nn/functional.h"
#include "core/rpc/pipeline/remote_pipeline.h"
#include "core/rpc/pipeline/shard.h"
#include "tests/unit/rpc/rpc_world.h"

#include <vector>

namespace pdsim {
namespace {

using namespace literals;
using nn::Tensor;

// A layer of so many columns for eight rows: `forward`, and twice that backward.
nn::ModuleSpec timed_layer(std::int64_t width, Time forward) {
  nn::LayerSpec layer{"fc", nn::LayerKind::linear, width, width};
  layer.forward_time = forward;
  layer.backward_time = forward * 2;
  nn::ModuleSpec spec{{layer}, {}, DType::f64};
  spec.timed_rows = 8;
  return spec;
}

struct TimedShard {
  nn::Module module;
  PipelineShard shard;
  TimedShard(Runtime& runtime, std::int64_t width, Time forward)
      : module(timed_layer(width, forward), Random(1)), shard(runtime, module, {"fc"}) {}
};

std::function<RpcFunctions(RankEnvironment&)> shards_of(std::vector<std::int64_t> widths, Time forward) {
  return [widths, forward](RankEnvironment& env) {
    RpcFunctions functions;
    add_shard_functions(functions, [&env, widths, forward](std::int64_t k) -> Result<std::shared_ptr<PipelineShard>> {
      const auto owned = std::make_shared<TimedShard>(env.runtime, widths[static_cast<std::size_t>(k)], forward);
      return std::shared_ptr<PipelineShard>(owned, &owned->shard);
    });
    return functions;
  };
}

Result<Tensor> one_step(Rpc& rpc, std::span<const std::string> workers, std::int64_t split_size) {
  const Result<RemotePipeline> pipeline = RemotePipeline::make(rpc, workers);
  if (!pipeline.ok()) return pipeline.error();
  const Result<std::vector<RRef>> parameters = pipeline->parameter_rrefs(rpc);
  if (!parameters.ok()) return parameters.error();
  Result<DistributedOptimizer> optimizer = DistributedOptimizer::make(rpc, {}, *parameters);
  if (!optimizer.ok()) return optimizer.error();
  const Tensor batch = Tensor::from(std::vector<double>(16, 0.5), {8, 2}, DType::f64);
  return pipeline->step(rpc, *optimizer, batch, split_size, [](const Tensor& y) { return nn::sum(y); });
}

// Of one step on so many shards, each of 30 ms for the whole batch.
double milliseconds(int shards, std::int64_t split_size) {
  double took = 0;
  const std::vector<std::int64_t> widths(static_cast<std::size_t>(shards), 2);
  const RunRecord run = run_rpc(world_of(shards + 1), shards_of(widths, 10_ms), [&](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 0) return {};
    std::vector<std::string> workers;
    for (int k = 1; k <= shards; ++k) workers.push_back(worker_name(k));
    const Time began = env.runtime.now();
    const Status status = one_step(rpc, workers, split_size).status();
    took = (env.runtime.now() - began).seconds() * 1e3;
    return status;
  });
  EXPECT_TRUE(all_returned(run));
  return took;
}

TEST(RemotePipeline, ComputesOneMicroBatchWhileTheNextShardComputesAnother) {
  for (const int shards : {1, 2, 3})
    for (const std::int64_t parts : {1, 2, 4, 8}) {
      const double ideal = 30.0 * static_cast<double>(shards + parts - 1) / static_cast<double>(parts);
      EXPECT_NEAR(milliseconds(shards, 8 / parts), ideal, 0.5) << shards << " shards, " << parts << " micro-batches";
    }
}

TEST(RemotePipeline, GivesTheMasterWhatAShardRaises) {
  const RunRecord run = run_rpc(world_of(3), shards_of({2, 5}, 1_ms), [](Rpc& rpc, RankEnvironment& env) -> Status {
    if (env.rank != 0) return {};
    const Result<Tensor> loss = one_step(rpc, std::vector<std::string>{"worker1", "worker2"}, 4);
    EXPECT_FALSE(loss.ok());
    const std::string text = loss.ok() ? "" : loss.error().message;
    EXPECT_NE(text.find("On WorkerInfo(id=2, name=worker2)"), std::string::npos) << text;
    EXPECT_EQ(one_step(rpc, std::vector<std::string>{"worker9"}, 4).error().message,
              "name:worker0,rank:0 could not find destination name worker9");
    EXPECT_EQ(one_step(rpc, std::vector<std::string>{"worker1"}, 0).error().code, Code::invalid_argument);
    EXPECT_EQ(one_step(rpc, {}, 4).error().message, "a pipeline has one shard at least");
    return {};
  });
  EXPECT_TRUE(all_returned(run));
}

// The context goes while a worker still computes the backward of it.
TEST(RemotePipeline, ABackwardThatTheMasterNoLongerWaitsForEndsAlone) {
  const RunRecord run = run_rpc(
      world_of(3), shards_of({2, 2}, 100_ms),
      [](Rpc& rpc, RankEnvironment& env) -> Status {
        if (env.rank != 0) return {};
        const Result<Tensor> loss = one_step(rpc, std::vector<std::string>{"worker1", "worker2"}, 2);
        EXPECT_EQ(loss.ok() ? "it ended" : name_of(loss.error().code), name_of(Code::timeout));
        env.runtime.sleep_until(env.runtime.now() + 1_s);
        return {};
      },
      {16, 200_ms});
  EXPECT_EQ(run.ranks[0].log.end, RankEnd::returned);
  EXPECT_FALSE(run.deadlocked);
}

}  // namespace
}  // namespace pdsim
