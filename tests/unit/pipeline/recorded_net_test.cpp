// A convolutional net in two stages, trained over a simulated world, beside PyTorch's recording of the same net in two shards over RPC and
// in one process (tests/oracle/rpc_1_13.json, program `pipeline`).

#include "core/group/init_process_group.h"
#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"
#include "core/pipeline/families.h"
#include "core/pipeline/run_pipeline.h"
#include "sim/run.h"
#include "tests/oracle/directory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

namespace pdsim {
namespace {

using NetNumbers = std::vector<double>;
constexpr std::int64_t net_rows = 8, net_classes = 4, net_hidden = 3 * 4 * 4;

// What rank 0 logged under each name.
std::map<std::string, nlohmann::json> recording() {
  std::ifstream file(oracle::directory() + "/rpc_1_13.json");
  std::map<std::string, nlohmann::json> logged;
  const nlohmann::json whole = nlohmann::json::parse(file);
  for (const nlohmann::json& run : whole["runs"]) {
    if (run["name"] != "pipeline") continue;
    for (const nlohmann::json& entry : run["ranks"][0]["log"])
      if (entry.is_object() && entry.contains("value")) logged[entry["what"]] = entry["value"];
  }
  return logged;
}

nn::LayerSpec convolution(const std::string& name, std::int64_t channels, std::int64_t filters) {
  nn::LayerSpec layer;
  layer.name = name;
  layer.kind = nn::LayerKind::conv2d;
  layer.channels = channels;
  layer.height = layer.width = 4;
  layer.filters = filters;
  layer.kernel = 3;
  layer.padding = 1;
  layer.in = channels * 16;
  layer.out = filters * 16;
  return layer;
}

nn::ModuleSpec shard_spec(int stage) {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  if (stage == 0) {
    spec.layers = {convolution("first", 2, 3), {"act", nn::LayerKind::relu}, convolution("second", 3, 3)};
  } else {
    spec.layers = {{"act", nn::LayerKind::relu}, {"head", nn::LayerKind::linear, net_hidden, net_classes}};
  }
  return spec;
}

// One rank's shard, its micro-batches, and what goes between the shards.
class NetShard : public StageWork {
 public:
  NetShard(int stage, int microbatches, const nlohmann::json& initial)
      : stage_(stage), microbatches_(microbatches), module_(shard_spec(stage), Random(0)) {
    for (std::size_t i = 0; i < module_.parameters().size(); ++i) {
      nn::Tensor& p = module_.parameters()[i];
      p.copy_(nn::Tensor::from(initial[i].get<NetNumbers>(), p.shape(), p.dtype()).view());
    }
    nn::OptimizerSpec sgd;
    sgd.lr = 0.05;
    optimizer_ = nn::Optimizer::make(sgd, module_.parameters());
  }

  void begin(const nlohmann::json& batch) {
    images_ = batch[0].get<NetNumbers>();
    targets_ = batch[1].get<NetNumbers>();
    losses_.clear();
    optimizer_->zero_grad();
  }

  Status compute(const PipelineAction& action) override {
    return action.kind == PipelineActionKind::forward ? forward(action.microbatch) : backward(action.microbatch);
  }

  MutableView memory(const PipelineMessage& message) override {
    const int j = message.needed_by.microbatch;
    NetNumbers& numbers = message.activation() ? activations_[j] : gradients_[j];
    numbers.resize(static_cast<std::size_t>(part() * net_hidden));
    return view_of(numbers);
  }

  Status received(const PipelineMessage&) override { return {}; }

  void step() { optimizer_->step(); }

  double loss() const {
    double sum = 0;
    for (const auto& [j, loss] : losses_) sum += loss.at(0);
    return sum;
  }

  std::vector<NetNumbers> values() {
    std::vector<NetNumbers> all;
    for (const nn::Tensor& p : module_.parameters()) all.push_back(p.values());
    return all;
  }

 private:
  std::int64_t part() const { return net_rows / microbatches_; }

  nn::Tensor slice_of(const NetNumbers& all, int j, std::int64_t columns) const {
    const auto from = all.begin() + j * part() * columns;
    return nn::Tensor::from(NetNumbers(from, from + part() * columns), {part(), columns}, DType::f64);
  }

  Status forward(int j) {
    inputs_[j] = stage_ == 0
                     ? slice_of(images_, j, 32)
                     : nn::Tensor::from(activations_[j], {part(), net_hidden}, DType::f64).set_requires_grad(true);
    const Result<nn::Tensor> output = module_.forward(inputs_[j], "", {});
    if (!output.ok()) return output.error();
    outputs_[j] = *output;
    if (stage_ == 0) {
      activations_[j] = output->values();
      return {};
    }
    const Result<nn::Tensor> loss = nn::mse_loss(*output, slice_of(targets_, j, net_classes));
    if (!loss.ok()) return loss.error();
    const Result<nn::Tensor> share = nn::scale(*loss, 1.0 / microbatches_);
    if (!share.ok()) return share.error();
    losses_[j] = *share;
    return {};
  }

  Status backward(int j) {
    nn::BackwardPass pass;
    if (stage_ == 0) return pass.run(outputs_[j], nn::Tensor::from(gradients_[j], {part(), net_hidden}, DType::f64));
    PDSIM_TRY(pass.run(std::vector{losses_[j]}));
    gradients_[j] = inputs_[j].grad().values();
    return {};
  }

  const int stage_, microbatches_;
  nn::Module module_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  NetNumbers images_, targets_;
  std::map<int, NetNumbers> activations_, gradients_;
  std::map<int, nn::Tensor> inputs_, outputs_, losses_;
};

struct TrainedNet {
  std::vector<NetNumbers> shards[2];
  NetNumbers losses;
};

TrainedNet train_net(std::string_view family, int microbatches, std::map<std::string, nlohmann::json>& recorded) {
  TrainedNet trained;
  const auto schedule = make_pipeline(*pipeline_family_named(family), {2, microbatches, 1});
  if (!schedule.ok()) return trained;
  const PipelineProgram program = lower_pipeline(*schedule, PipelineSends::isend);
  sim::WorldSpec spec;
  const auto run = sim::run(spec, {}, [&](RankEnvironment& env) -> ProgramResult {
    auto group = init_process_group(env);
    if (!group.ok()) return {group.error(), {}};
    NetShard shard(env.rank, microbatches, recorded[env.rank == 0 ? "initial shard 1" : "initial shard 2"]);
    for (const nlohmann::json& batch : recorded["inputs"]) {
      shard.begin(batch);
      if (const Status ran = run_pipeline(program, *group, shard); !ran.ok()) return {ran, {}};
      if (env.rank == 1) trained.losses.push_back(shard.loss());
      shard.step();
    }
    trained.shards[env.rank] = shard.values();
    return {{}, {}};
  });
  return trained;
}

void expect_close_to(const NetNumbers& got, const nlohmann::json& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i].get<double>(), 1e-12 * std::max(1.0, std::abs(want[i].get<double>()))) << what << i;
}

TEST(RecordedNet, TrainsToTheRecordedParametersForEveryNumberOfMicroBatches) {
  auto recorded = recording();
  ASSERT_EQ(recorded["inputs"].size(), 3U);
  for (const std::string_view family : {"gpipe", "1f1b"})
    for (const int microbatches : {1, 2, 4}) {
      const TrainedNet trained = train_net(family, microbatches, recorded);
      const std::string split = "split " + std::to_string(microbatches);
      for (const std::string& of : {split, std::string("one process")}) {
        expect_close_to(trained.losses, recorded[of + " losses"], of + " losses ");
        for (int s = 0; s < 2; ++s) {
          const nlohmann::json& shard = recorded[of + " shard " + std::to_string(s + 1)];
          ASSERT_EQ(trained.shards[s].size(), shard.size()) << of;
          for (std::size_t p = 0; p < shard.size(); ++p) expect_close_to(trained.shards[s][p], shard[p], of);
        }
      }
    }
}

}  // namespace
}  // namespace pdsim
