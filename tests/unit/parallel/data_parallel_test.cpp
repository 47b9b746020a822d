// DataParallel: pieces, replicas, gradients and what is lost.

#include "core/parallel/data_parallel.h"

#include "core/nn/functional.h"
#include "tests/unit/parallel/ddp_world.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;
using nn::LayerKind;
using nn::LayerSpec;
using nn::Module;
using nn::ModuleSpec;
using nn::Tensor;

// Adds up what it is asked to compute.
class Clock final : public Runtime {
 public:
  Time now() const override { return now_; }
  void sleep_until(Time t) override { now_ = std::max(now_, t); }
  void compute(Time cost) override { now_ += cost; }
  std::unique_ptr<Event> make_event() override { return nullptr; }

 private:
  Time now_{};
};

LayerSpec layer(std::string name, LayerKind kind, std::int64_t in, std::int64_t out) {
  LayerSpec spec;
  spec.name = std::move(name);
  spec.kind = kind;
  spec.in = in;
  spec.out = out;
  return spec;
}

ModuleSpec network(LayerKind middle) {
  ModuleSpec spec;
  spec.dtype = DType::f64;
  spec.layers = {layer("a", LayerKind::linear, 3, 4), layer("m", middle, 4, 4), layer("b", LayerKind::linear, 4, 2)};
  return spec;
}

Tensor batch_of(std::int64_t rows) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * 3; ++i) values.push_back(static_cast<double>((i * 7 + 3) % 11) / 5.0 - 1.0);
  return Tensor::from(values, {rows, 3}, DType::f64);
}

std::vector<std::int64_t> rows_of(const DataParallel& split) {
  std::vector<std::int64_t> rows;
  for (const DeviceLoad& load : split.loads()) rows.push_back(load.rows);
  return rows;
}

// Mean of squares, as a loss on the gathered output.
Tensor loss_of(const Tensor& output) { return *nn::mse_loss(output, Tensor::zeros(output.shape(), output.dtype())); }

TEST(DataParallel, GivesTheGradientsOfTheWholeBatchForEveryBatchAndNumberOfDevices) {
  for (std::int64_t rows = 1; rows <= 7; ++rows)
    for (int devices = 1; devices <= 5; ++devices) {
      Module whole(network(LayerKind::layernorm), Random(3)), parts(network(LayerKind::layernorm), Random(3));
      Clock clock;
      DataParallel split(parts, {.devices = devices}, clock);
      const Result<Tensor> expected = whole.forward(batch_of(rows), "", {});
      const Result<Tensor> output = split.forward(batch_of(rows), "", {});
      ASSERT_TRUE(expected.ok() && output.ok());
      expect_near(output->values(), expected->values(), 1e-12, "output");
      const Tensor one = loss_of(*expected), other = loss_of(*output);
      nn::BackwardPass pass;
      ASSERT_TRUE(pass.run(std::span(&one, 1)).ok());
      ASSERT_TRUE(split.backward(std::span(&other, 1)).ok());
      for (std::size_t p = 0; p < whole.parameters().size(); ++p)
        expect_near(parts.parameters()[p].grad().values(), whole.parameters()[p].grad().values(), 1e-12,
                    whole.parameters()[p].name());
    }
}

TEST(DataParallel, SplitsAsTorchChunkDoes) {
  Module module(network(LayerKind::relu), Random(1));
  Clock clock;
  DataParallel split(module, {.devices = 4}, clock);
  const std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> cases{
      {8, {2, 2, 2, 2}}, {5, {2, 2, 1, 0}}, {6, {2, 2, 2, 0}}, {3, {1, 1, 1, 0}}, {1, {1, 0, 0, 0}}};
  for (const auto& [rows, pieces] : cases) {
    ASSERT_TRUE(split.forward(batch_of(rows), "", {}).ok());
    EXPECT_EQ(rows_of(split), pieces) << rows;
  }
  EXPECT_EQ(split.forward(Tensor::zeros({0, 3}, DType::f64), "", {}).error().code, Code::invalid_argument);
}

TEST(DataParallel, KeepsTheStatisticsOfTheFirstDeviceOnly) {
  Module module(network(LayerKind::batchnorm), Random(3)), alone(network(LayerKind::batchnorm), Random(3));
  Clock clock;
  DataParallel split(module, {.devices = 2}, clock);
  ASSERT_TRUE(split.forward(batch_of(6), "", {}).ok());
  ASSERT_TRUE(alone.forward(batch_of(6).slice(0, {3, 3}), "", {}).ok());  // the rows of the first device
  for (const char* buffer : {"m.running_mean", "m.running_var", "m.num_batches_tracked"})
    expect_near(module.find(buffer).values(), alone.find(buffer).values(), 1e-12, buffer);
}

TEST(DataParallel, CountsTheCopiesThroughThePortsOfItsFirstDevice) {
  ModuleSpec spec = network(LayerKind::relu);
  for (LayerSpec& l : spec.layers) {
    l.forward_time = 1_ms;
    l.backward_time = 2_ms;
  }
  Module module(spec, Random(1));
  Clock clock;
  // 26 parameters of 8 bytes: 208us for a replica at 1 byte a microsecond.
  DataParallel split(module, {.devices = 2, .output_device = 0, .latency = 5_us, .bandwidth = Rate{1'000'000}}, clock);
  const Result<Tensor> output = split.forward(batch_of(4), "", {});
  ASSERT_TRUE(output.ok());
  // 48us for two rows there, 208us for the replica, half of 3ms, 32us for two rows of output.
  EXPECT_EQ(clock.now(), 48_us + 208_us + 5_us + 1500_us + 32_us + 5_us);
  const Time before = clock.now();
  const Tensor loss = loss_of(*output);
  ASSERT_TRUE(split.backward(std::span(&loss, 1)).ok());
  EXPECT_EQ(clock.now() - before, 32_us + 5_us + 3000_us + 208_us + 5_us);
  EXPECT_EQ(split.loads()[0].computing, 4500_us);
  EXPECT_EQ(split.loads()[1].parameter_bytes, 208);
  EXPECT_EQ(split.loads()[0].parameter_bytes, 416);
  EXPECT_GT(split.loads()[0].activation_bytes, split.loads()[1].activation_bytes);  // what was gathered
}

TEST(DataParallel, OneDeviceCopiesNothing) {
  Module module(network(LayerKind::relu), Random(1));
  Clock clock;
  DataParallel split(module, {.devices = 1, .latency = 5_us, .bandwidth = Rate{1}}, clock);
  const Result<Tensor> output = split.forward(batch_of(4), "", {});
  const Tensor loss = loss_of(*output);
  ASSERT_TRUE(split.backward(std::span(&loss, 1)).ok());
  EXPECT_EQ(clock.now(), Time{});
}

}  // namespace
}  // namespace pdsim
