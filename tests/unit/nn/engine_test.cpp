// The order in which backward runs nodes, what it accumulates, and what it refuses.
#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace pdsim::nn {
namespace {

using Names = std::vector<std::string>;

// Notes in `order` whenever a parameter's gradient became ready.
void watch(Module& module, Names& order) {
  for (Tensor& p : module.parameters())
    register_post_accumulate_hook(p, [&order](Tensor& t) {
      order.push_back(t.name());
      return Status();
    });
}

Module mlp() {
  return {spec_of({{"fc1", LayerKind::linear, 2, 3}, {"act", LayerKind::relu}, {"fc2", LayerKind::linear, 3, 1}}),
          Random(1)};
}

Tensor loss_of(Module& module, const std::string& path = "") {
  const Tensor input = Tensor::from({1, 2, 3, 4}, {2, 2}, DType::f64);
  return sum(module.forward(input, path, {}).value()).value();
}

TEST(BackwardOrder, LastLayerFirstAndBiasBeforeWeight) {
  Module module = mlp();
  Names order;
  watch(module, order);
  ASSERT_TRUE(backward(loss_of(module)).ok());
  EXPECT_EQ(order, (Names{"fc2.bias", "fc2.weight", "fc1.bias", "fc1.weight"}));
}

TEST(BackwardOrder, OfTwoForwardsTheLaterComesFirst) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 2}, {"b", LayerKind::linear, 2, 2}},
                        {{"through_a", {"a"}}, {"through_b", {"b"}}}),
                Random(1));
  Names order;
  watch(module, order);
  const Tensor b = loss_of(module, "through_b");
  const Tensor a = loss_of(module, "through_a");
  const std::array<Tensor, 2> losses{b, a};
  ASSERT_TRUE(BackwardPass().run(losses).ok());
  EXPECT_EQ(order, (Names{"a.bias", "a.weight", "b.bias", "b.weight"}));
}

TEST(BackwardOrder, ALayerUsedTwiceIsReadyOnceAtItsEarlierUse) {
  Module module(
      spec_of({{"fc", LayerKind::linear, 2, 2}, {"head", LayerKind::linear, 2, 2}}, {{"p", {"fc", "head", "fc"}}}),
      Random(1));
  Names order;
  watch(module, order);
  ASSERT_TRUE(backward(loss_of(module)).ok());
  EXPECT_EQ(order, (Names{"head.bias", "head.weight", "fc.bias", "fc.weight"}));
}

TEST(BackwardOrder, BatchNormGivesWeightThenBias) {
  Module module(spec_of({{"fc", LayerKind::linear, 2, 2}, {"norm", LayerKind::batchnorm, 2}}), Random(1));
  Names order;
  watch(module, order);
  ASSERT_TRUE(backward(loss_of(module)).ok());
  EXPECT_EQ(order, (Names{"norm.weight", "norm.bias", "fc.bias", "fc.weight"}));
}

TEST(Accumulation, LaterBackwardsAddInPlace) {
  Tensor a = leaf({1, 2}, {2});
  ASSERT_TRUE(backward(sum(a).value()).ok());
  const Tensor first = a.grad();
  EXPECT_EQ(first.version(), 0U);
  ASSERT_TRUE(backward(sum(scale(a, 3).value()).value()).ok());
  EXPECT_TRUE(a.grad().same_storage(first));
  EXPECT_EQ(first.values(), (Values{4, 4}));
  EXPECT_EQ(first.version(), 1U);
}

TEST(Accumulation, TheFirstGradientHasItsOwnStorage) {
  Tensor a = leaf({1}, {1});
  Tensor b = leaf({1}, {1});
  ASSERT_TRUE(backward(sum(add(a, b).value()).value()).ok());
  EXPECT_FALSE(a.grad().same_storage(b.grad()));
}

TEST(Accumulation, SeveralRootsCountOnceEach) {
  Tensor a = leaf({2}, {1});
  const Tensor root = sum(a).value();
  const std::array<Tensor, 3> roots{root, sum(scale(a, 5).value()).value(), root};
  ASSERT_TRUE(BackwardPass().run(roots).ok());
  EXPECT_EQ(a.grad().values(), (Values{7}));
}

TEST(Backward, ALeafMayBeTheRoot) {
  Tensor a = leaf({2}, {});
  ASSERT_TRUE(backward(a).ok());
  EXPECT_EQ(a.grad().values(), (Values{1}));
}

TEST(Backward, RefusesWhatHasNothingToDifferentiate) {
  EXPECT_EQ(backward(Tensor()).error().code, Code::autograd_misuse);
  EXPECT_EQ(backward(Tensor::zeros({})).error().code, Code::autograd_misuse);
  const Error error = backward(leaf({1, 2}, {2})).error();
  EXPECT_EQ(error.code, Code::autograd_misuse);
  EXPECT_EQ(error.message, "backward starts at a scalar, and this tensor has 2 elements; call it on a loss");
}

TEST(Backward, ASecondTimeThroughAGraphIsAnErrorWhereItHadSavedSomething) {
  Tensor a = leaf({2}, {1});
  const Tensor saves = sum(mul(a, a).value()).value();
  ASSERT_TRUE(backward(saves).ok());
  const Error error = backward(saves).error();
  EXPECT_EQ(error.code, Code::autograd_misuse);
  EXPECT_EQ(fact(error.facts, "node"), "MulBackward0");
  const Tensor saves_nothing = sum(scale(a, 2).value()).value();
  ASSERT_TRUE(backward(saves_nothing).ok());
  EXPECT_TRUE(backward(saves_nothing).ok());
}

TEST(Backward, TheFirstErrorOfAHookEndsIt) {
  Module module = mlp();
  Names order;
  watch(module, order);
  register_post_accumulate_hook(module.parameters()[2], [](Tensor&) { return Error{Code::timeout, "enough", {}}; });
  bool called = false;
  BackwardPass pass;
  pass.queue_callback([&called] {
    called = true;
    return Status();
  });
  const Tensor loss = loss_of(module);
  EXPECT_EQ(pass.run(std::span(&loss, 1)).error().code, Code::timeout);
  EXPECT_EQ(order, (Names{"fc2.bias", "fc2.weight"}));
  EXPECT_FALSE(called);
}

TEST(Backward, CallbacksRunAfterTheLastNodeAndMayQueueMore) {
  Module module = mlp();
  Names order;
  BackwardPass pass;
  watch(module, order);
  register_post_accumulate_hook(module.parameters()[3], [&](Tensor&) {
    pass.queue_callback([&] {
      order.push_back("end");
      pass.queue_callback([&] {
        order.push_back("very end");
        return Status();
      });
      return Status();
    });
    return Status();
  });
  const Tensor loss = loss_of(module);
  ASSERT_TRUE(pass.run(std::span(&loss, 1)).ok());
  ASSERT_EQ(order.size(), 6U);
  EXPECT_EQ(order[4], "end");
  EXPECT_EQ(order[5], "very end");
}

TEST(Backward, LeavesOfUnusedBranchesKeepNoGradient) {
  Module module(spec_of({{"trunk", LayerKind::linear, 2, 2}, {"aux", LayerKind::linear, 2, 2}},
                        {{"full", {"trunk", "aux"}}, {"short", {"trunk"}}}),
                Random(1));
  ASSERT_TRUE(backward(loss_of(module, "short")).ok());
  EXPECT_TRUE(module.find("trunk.weight").grad().defined());
  EXPECT_FALSE(module.find("aux.weight").grad().defined());
  EXPECT_FALSE(module.find("aux.bias").grad().defined());
}

TEST(Backward, FrozenParametersGetNoGradient) {
  Module module = mlp();
  module.find("fc2.weight").set_requires_grad(false);
  module.find("fc1.bias").set_requires_grad(false);
  ASSERT_TRUE(backward(loss_of(module)).ok());
  EXPECT_FALSE(module.find("fc2.weight").grad().defined());
  EXPECT_FALSE(module.find("fc1.bias").grad().defined());
  EXPECT_TRUE(module.find("fc1.weight").grad().defined());
}

TEST(ReachableLeaves, AreThoseBehindTheOutputOnceEach) {
  Module module(
      spec_of({{"trunk", LayerKind::linear, 2, 2}, {"aux", LayerKind::linear, 2, 2}}, {{"short", {"trunk", "trunk"}}}),
      Random(1));
  const Tensor output = loss_of(module);
  const std::vector<Tensor> leaves = reachable_leaves(std::span(&output, 1));
  ASSERT_EQ(leaves.size(), 2U);
  for (const Tensor& t : leaves) EXPECT_EQ(t.name().substr(0, 6), "trunk.");
  const Tensor constant = Tensor::zeros({});
  EXPECT_TRUE(reachable_leaves(std::span(&constant, 1)).empty());
}

TEST(Graph, DeepOnesAreWalkedAndFreedWithoutRecursion) {
  Tensor a = leaf({1}, {1});
  Tensor t = a;
  for (int i = 0; i < 200'000; ++i) t = scale(t, 1.0).value();
  t = sum(t).value();
  ASSERT_TRUE(backward(t).ok());
  EXPECT_EQ(a.grad().values(), (Values{1}));
}

TEST(Graph, LeavesAndTheirHooksDieWithTheLastHandle) {
  const auto alive = std::make_shared<int>(1);
  {
    Module module = mlp();
    for (Tensor& p : module.parameters()) register_post_accumulate_hook(p, [alive](Tensor&) { return Status(); });
    ASSERT_TRUE(backward(loss_of(module)).ok());
    const Tensor kept = loss_of(module);
    EXPECT_EQ(alive.use_count(), 5);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace pdsim::nn
