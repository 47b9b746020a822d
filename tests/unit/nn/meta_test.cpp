// Layers of which only size and time count.

#include "core/nn/autograd.h"
#include "core/nn/clip.h"
#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace pdsim::nn {
namespace {

LayerSpec meta(std::string name, std::vector<Shape> shapes, DType dtype = DType::f32) {
  LayerSpec layer;
  layer.name = std::move(name);
  layer.kind = LayerKind::meta;
  layer.shapes = std::move(shapes);
  layer.dtype = dtype;
  return layer;
}

LayerSpec linear(std::string name, std::int64_t in, std::int64_t out) {
  return {.name = std::move(name), .kind = LayerKind::linear, .in = in, .out = out};
}

std::vector<std::string> ready_order(Module& module) {
  const auto order = std::make_shared<std::vector<std::string>>();  // which the hooks outlive
  for (Tensor& p : module.parameters())
    register_post_accumulate_hook(p, [order](Tensor& leaf) {
      order->push_back(leaf.name());
      return Status{};
    });
  const Result<Tensor> output = module.forward(Tensor::from({1, 2}, {1, 2}), "", {});
  EXPECT_TRUE(output.ok());
  const Result<Tensor> loss = sum(*output);
  BackwardPass pass;
  EXPECT_TRUE(pass.run(std::span(&*loss, 1)).ok());
  return *order;
}

TEST(SizedTensor, HasAShapeAndNoMemory) {
  const Tensor t = Tensor::meta({1LL << 20, 1LL << 20}, DType::bf16);
  EXPECT_EQ(t.view().data, nullptr);
  EXPECT_EQ(t.view().bytes(), 1LL << 41);
  EXPECT_TRUE(t.values().empty());
  EXPECT_FALSE(t.has_values());
  EXPECT_FALSE(t.clone().has_memory());
  EXPECT_EQ(t.slice(1LL << 20, {1LL << 30}).view().data, nullptr);
  EXPECT_NE(Tensor::meta({4}, DType::f16, true).view().data, nullptr);
}

TEST(SizedLayer, GradientsBecomeReadyFromTheLastToTheFirst) {
  ModuleSpec spec;
  spec.layers = {linear("in", 2, 2), meta("middle", {{4096, 4096}, {4096}}, DType::f16), linear("out", 2, 2)};
  Module module(spec, Random(1));
  EXPECT_EQ(ready_order(module),
            (std::vector<std::string>{"out.bias", "out.weight", "middle.p1", "middle.p0", "in.bias", "in.weight"}));
  const Tensor gradient = module.find("middle.p0").grad();
  EXPECT_EQ(gradient.shape(), (Shape{4096, 4096}));
  EXPECT_EQ(gradient.dtype(), DType::f16);
  EXPECT_FALSE(gradient.has_values());
}

TEST(SizedLayer, LeavesTheNumbersOfTheOthersAlone) {
  ModuleSpec with, without;
  with.layers = {linear("a", 2, 3), meta("s", {{1000}, {}}), linear("b", 3, 1)};
  without.layers = {linear("a", 2, 3), linear("b", 3, 1)};
  const Tensor input = Tensor::from({0.5, -1.5}, {1, 2});
  std::vector<std::vector<double>> weights;
  for (const ModuleSpec& spec : {with, without}) {
    Module module(spec, Random(7));
    const auto optimizer = Optimizer::make({.kind = OptimizerSpec::Kind::adam}, module.parameters());
    for (int step = 0; step < 2; ++step) {
      const Result<Tensor> output = module.forward(input, "", {});
      ASSERT_TRUE(output.ok());
      const Result<Tensor> loss = sum(*output);
      BackwardPass pass;
      ASSERT_TRUE(pass.run(std::span(&*loss, 1)).ok());
      EXPECT_TRUE(clip_grad_norm(module.parameters(), {}).ok());
      optimizer->step();
    }
    weights.push_back(module.find("a.weight").values());
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(SizedLayer, StepsRaiseTheVersionAndSecondBackwardsAccumulate) {
  for (const bool copies : {false, true}) {
    ModuleSpec spec;
    spec.layers = {meta("s", {{8, 8}})};
    Module module(spec, Random(1));
    const auto optimizer = Optimizer::make({.momentum = 0.9, .copies = copies}, module.parameters());
    ready_order(module);
    ready_order(module);
    const std::uint32_t before = module.parameters()[0].version();
    optimizer->step();
    EXPECT_EQ(module.parameters()[0].version(), before + 1);
    optimizer->zero_grad();
    EXPECT_FALSE(module.parameters()[0].grad().defined());
  }
}

TEST(LayerTimes, AreToldInTheOrderOfTheWork) {
  using namespace pdsim::literals;
  ModuleSpec spec;
  spec.layers = {linear("a", 2, 2), meta("s", {{3}}), linear("b", 2, 2)};
  spec.recompute = {"b"};
  spec.layers[1].forward_time = 1_ms;
  spec.layers[1].backward_time = 10_ms;
  spec.layers[2].forward_time = 2_ms;
  spec.layers[2].backward_time = 20_ms;
  Module module(spec, Random(1));
  EXPECT_EQ(module.untimed_layers(""), 1U);
  std::vector<std::string> order;
  module.set_clock([&order](Time t) { order.push_back(to_string(t)); });
  for (Tensor& p : module.parameters())
    register_post_accumulate_hook(p, [&order](Tensor& leaf) {
      order.push_back(leaf.name());
      return Status{};
    });
  ASSERT_TRUE(module.forward(Tensor::from({1, 2}, {1, 2}), "", {true, false}).ok());  // without gradients: forward only
  const Result<Tensor> output = module.forward(Tensor::from({1, 2}, {1, 2}), "", {});
  ASSERT_TRUE(output.ok());
  const Result<Tensor> loss = sum(*output);
  BackwardPass pass;
  ASSERT_TRUE(pass.run(std::span(&*loss, 1)).ok());
  EXPECT_EQ(order, (std::vector<std::string>{"1ms", "2ms", "1ms", "2ms", "22ms", "b.bias", "b.weight", "10ms", "s.p0",
                                             "a.bias", "a.weight"}));
}

TEST(LayerTimes, OfAnInputWithFewerRowsAreTheirShare) {
  using namespace pdsim::literals;
  ModuleSpec spec;
  spec.layers = {meta("wide", {{3}})};
  spec.layers[0].out = 5;
  spec.layers[0].forward_time = 8_ms;
  spec.layers[0].backward_time = 16_ms;
  spec.timed_rows = 8;
  Module module(spec, Random(1));
  std::vector<std::string> told;
  module.set_clock([&told](Time t) { told.push_back(to_string(t)); });
  const Result<Tensor> few = module.forward(Tensor::meta({2, 7}, DType::f32), "", {});
  const Result<Tensor> rest = module.forward(Tensor::meta({6, 7}, DType::f32), "", {});
  ASSERT_TRUE(few.ok() && rest.ok());
  const Result<Tensor> both = concatenate_rows(*few, *rest);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->shape(), (Shape{8, 5}));  // what it gives, not what it takes
  EXPECT_FALSE(both->has_values());
  const Result<Tensor> loss = sum(*both);
  BackwardPass pass;
  ASSERT_TRUE(pass.run(std::span(&*loss, 1)).ok());
  EXPECT_EQ(told, (std::vector<std::string>{"2ms", "6ms", "12ms", "4ms"}));
}

}  // namespace
}  // namespace pdsim::nn
