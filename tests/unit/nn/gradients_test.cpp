// Every operation's and layer's gradient against finite differences, over small shapes.
#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim::nn {
namespace {

const std::vector<Shape> small_shapes{{1}, {5}, {2, 3}, {4, 1}, {1, 6}};

TEST(Gradients, AddMulScaleAndSum) {
  Random random(1);
  for (const Shape& shape : small_shapes) {
    Tensor a = random_tensor(random, shape).set_requires_grad(true);
    Tensor b = random_tensor(random, shape).set_requires_grad(true);
    expect_gradients(
        {a, b}, [&] { return sum(mul(add(a, b).value(), b).value()); }, "(a + b) * b");
    expect_gradients(
        {a}, [&] { return sum(mul(a, scale(a, -2.5).value()).value()); }, "a * -2.5 a");
  }
}

TEST(Gradients, AProductWithAConstantReachesOnlyTheVariable) {
  Tensor a = leaf({1, 2}, {2});
  const Tensor constant = Tensor::from({3, 4}, {2}, DType::f64);
  ASSERT_TRUE(backward(sum(mul(a, constant).value()).value()).ok());
  EXPECT_EQ(a.grad().values(), (Values{3, 4}));
  EXPECT_FALSE(constant.grad().defined());
}

TEST(Gradients, MseLossOfOutputAndTarget) {
  Random random(2);
  for (const Shape& shape : small_shapes) {
    Tensor output = random_tensor(random, shape).set_requires_grad(true);
    Tensor target = random_tensor(random, shape).set_requires_grad(true);
    expect_gradients(
        {output, target}, [&] { return mse_loss(output, target); }, "mse");
  }
}

TEST(Gradients, CrossEntropyLoss) {
  Random random(3);
  for (std::int64_t rows = 1; rows <= 4; ++rows)
    for (std::int64_t width = 1; width <= 4; ++width) {
      Tensor logits = random_tensor(random, {rows, width}).set_requires_grad(true);
      std::vector<std::int64_t> classes;
      for (std::int64_t r = 0; r < rows; ++r)
        classes.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width))));
      expect_gradients(
          {logits}, [&] { return cross_entropy_loss(logits, classes); }, "cross entropy");
    }
}

TEST(CrossEntropy, LargeLogitsDoNotOverflow) {
  const Tensor logits = leaf({1000, 0, -1000, 1000}, {2, 2});
  const auto loss = cross_entropy_loss(logits, {0, 0});
  ASSERT_TRUE(loss.ok());
  EXPECT_DOUBLE_EQ(loss->at(0), 1000.0);  // (0 + 2000) / 2
  ASSERT_TRUE(backward(*loss).ok());
  EXPECT_EQ(logits.grad().values(), (Values{0, 0, -0.5, 0.5}));
}

TEST(CrossEntropy, EvenLogitsCostTheLogarithmOfTheNumberOfClasses) {
  const auto loss = cross_entropy_loss(Tensor::zeros({3, 4}, DType::f64), {0, 1, 3});
  EXPECT_NEAR(loss->at(0), std::log(4.0), 1e-15);
}

TEST(CrossEntropy, RefusesClassesThatDoNotExist) {
  EXPECT_EQ(cross_entropy_loss(Tensor::zeros({2, 3}), {0, 3}).error().code, Code::invalid_argument);
  EXPECT_EQ(cross_entropy_loss(Tensor::zeros({2, 3}), {-1, 0}).error().code, Code::invalid_argument);
  EXPECT_EQ(cross_entropy_loss(Tensor::zeros({2, 3}), {0}).error().code, Code::shape_mismatch);
}

TEST(Operations, RefuseShapesAndTypesThatDiffer) {
  const Tensor a = Tensor::zeros({2, 3});
  EXPECT_EQ(add(a, Tensor::zeros({3, 2})).error().code, Code::shape_mismatch);
  EXPECT_EQ(mul(a, Tensor::zeros({2, 3}, DType::f64)).error().code, Code::shape_mismatch);
  const Error error = mse_loss(a, Tensor::zeros({6})).error();
  EXPECT_EQ(error.message, "mse_loss takes two tensors of one shape and type; these are f32 [2, 3] and f32 [6]");
}

TEST(LayerGradients, Linear) {
  Random random(4);
  for (std::int64_t batch = 1; batch <= 3; ++batch)
    for (std::int64_t in = 1; in <= 3; ++in)
      for (std::int64_t out = 1; out <= 3; ++out) {
        Module module(spec_of({{"fc", LayerKind::linear, in, out}}), random);
        expect_module_gradients(module, random_tensor(random, {batch, in}), "full", {});
      }
}

TEST(LayerGradients, Relu) {
  Random random(5);
  Module module(spec_of({{"act", LayerKind::relu}}), random);
  expect_module_gradients(module, random_tensor(random, {4, 5}), "full", {});
}

TEST(LayerGradients, BatchNormInTrainingAndInEvaluation) {
  Random random(6);
  for (std::int64_t batch = 2; batch <= 5; ++batch)
    for (std::int64_t width = 1; width <= 3; ++width)
      for (const bool training : {true, false}) {
        Module module(spec_of({{"norm", LayerKind::batchnorm, width}}), random);
        for (Tensor& t : module.parameters()) t.copy_(random_tensor(random, t.shape()).view());
        expect_module_gradients(module, random_tensor(random, {batch, width}), "full", {training, true});
      }
}

TEST(LayerGradients, AStackOfLayersAndALayerUsedTwice) {
  Random random(7);
  Module module(spec_of({{"fc1", LayerKind::linear, 3, 4},
                         {"norm", LayerKind::batchnorm, 4},
                         {"act", LayerKind::relu},
                         {"square", LayerKind::linear, 4, 4},
                         {"fc2", LayerKind::linear, 4, 2}},
                        {{"twice", {"fc1", "norm", "square", "act", "square", "fc2"}}}),
                random);
  expect_module_gradients(module, random_tensor(random, {5, 3}), "twice", {});
}

}  // namespace
}  // namespace pdsim::nn
