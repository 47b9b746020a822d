// Layers on several devices of a rank: copies there and gradients back, and what each device does.
#include "core/nn/functional.h"
#include "core/nn/module.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::nn {
namespace {

using namespace pdsim::literals;

ModuleSpec three_layers(const std::vector<int>& devices) {
  ModuleSpec spec;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    LayerSpec layer;
    layer.name = "l" + std::to_string(i);
    layer.in = layer.out = 2;
    layer.device = devices[i];
    layer.forward_time = 1_ms;
    layer.backward_time = 2_ms;
    spec.layers.push_back(layer);
  }
  return spec;
}

struct Trained {
  Time total{};
  std::vector<Time> by_device;
  std::vector<std::int64_t> activations;
  std::vector<std::vector<double>> gradients;
};

Trained train(const std::vector<int>& devices) {
  Module module(three_layers(devices), Random(3));
  Trained t;
  module.set_clock([&t](Time cost) { t.total += cost; });
  module.set_copier([](std::int64_t bytes) { return 1_us * bytes; });
  const Result<Tensor> output = module.forward(Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}), "", {});
  EXPECT_TRUE(output.ok());
  const Result<Tensor> loss = sum(*output);
  BackwardPass pass;
  EXPECT_TRUE(pass.run(std::span(&*loss, 1)).ok());
  t.by_device = module.device_times();
  t.activations = module.device_activations();
  for (const Tensor& p : module.parameters()) t.gradients.push_back(p.grad().values());
  return t;
}

TEST(LayersOnDevices, ComputeWhatTheyComputeOnOne) {
  EXPECT_EQ(train({0, 1, 0}).gradients, train({0, 0, 0}).gradients);
  EXPECT_EQ(train({0, 1, 2}).gradients, train({0, 0, 0}).gradients);
}

TEST(LayersOnDevices, CopyAnActivationThereAndItsGradientBack) {
  const Time layers = 9_ms, copy = 24_us;  // three rows of two f32
  EXPECT_EQ(train({0, 0, 0}).total, layers);
  EXPECT_EQ(train({1, 1, 1}).total, layers);  // the input comes from the host to wherever it is wanted
  EXPECT_EQ(train({0, 0, 1}).total, layers + copy * 2);
  EXPECT_EQ(train({0, 1, 0}).total, layers + copy * 4);
}

TEST(LayersOnDevices, TellWhatEachDeviceDoesAndHolds) {
  const Trained t = train({0, 1, 0});
  EXPECT_EQ(t.by_device, (std::vector<Time>{6_ms, 3_ms}));
  EXPECT_EQ(t.activations, (std::vector<std::int64_t>{48, 24}));
  EXPECT_EQ(devices_of(three_layers({0, 1, 0})), 2);
  EXPECT_EQ(devices_of(three_layers({})), 1);
}

TEST(LayersOnDevices, PutTheirParametersThere) {
  Module module(three_layers({0, 1, 0}), Random(3));
  EXPECT_EQ(module.find("l0.weight").device(), 0);
  EXPECT_EQ(module.find("l1.weight").device(), 1);
  EXPECT_EQ(module.find("l1.bias").device(), 1);
}

}  // namespace
}  // namespace pdsim::nn
