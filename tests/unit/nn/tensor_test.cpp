#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

namespace pdsim::nn {
namespace {

TEST(Tensor, CopiesShareStorageAndClonesDoNot) {
  Tensor a = Tensor::from({1, 2, 3}, {3});
  const Tensor copy = a;
  const Tensor clone = a.clone();
  a.fill_(7);
  EXPECT_EQ(copy.values(), (Values{7, 7, 7}));
  EXPECT_EQ(clone.values(), (Values{1, 2, 3}));
  EXPECT_TRUE(copy.same_storage(a));
  EXPECT_FALSE(clone.same_storage(a));
  EXPECT_EQ(clone.version(), 0U);
}

TEST(Tensor, HoldsSinglesDoublesAndCounts) {
  EXPECT_EQ(Tensor::from({0.1}, {1}, DType::f32).at(0), static_cast<double>(0.1F));
  EXPECT_EQ(Tensor::from({0.1}, {1}, DType::f64).at(0), 0.1);
  EXPECT_EQ(Tensor::from({12}, {}, DType::i64).at(0), 12);
  EXPECT_EQ(Tensor::zeros({}, DType::i64).view().bytes(), 8);
}

TEST(Tensor, MayBeEmptyOrAScalar) {
  EXPECT_EQ(Tensor::zeros({0, 3}).numel(), 0);
  EXPECT_TRUE(Tensor::zeros({0}).clone().values().empty());
  EXPECT_EQ(Tensor::zeros({}).numel(), 1);
  EXPECT_FALSE(Tensor().defined());
}

TEST(TensorVersion, CountsInPlaceWrites) {
  Tensor t = Tensor::zeros({2});
  EXPECT_EQ(t.version(), 0U);
  t.fill_(1);
  t.copy_(Tensor::from({3, 4}, {2}).view());
  EXPECT_EQ(t.version(), 2U);
  t.mutable_view();
  EXPECT_EQ(t.version(), 2U);
  t.bump_version();
  EXPECT_EQ(t.version(), 3U);
}

TEST(TensorVersion, IsSharedByAllViewsOfTheMemory) {
  Tensor t = Tensor::zeros({4});
  Tensor half = t.slice(2, {2});
  const Tensor detached = t.detach();
  half.fill_(5);
  EXPECT_EQ(t.version(), 1U);
  EXPECT_EQ(detached.version(), 1U);
  EXPECT_EQ(t.values(), (Values{0, 0, 5, 5}));
}

TEST(TensorSlice, IsAViewInAnotherShape) {
  Tensor flat = Tensor::from({0, 1, 2, 3, 4, 5, 6, 7}, {8}, DType::f64);
  Tensor slice = flat.slice(2, {2, 2});
  EXPECT_EQ(slice.values(), (Values{2, 3, 4, 5}));
  EXPECT_EQ(slice.slice(1, {2}).values(), (Values{3, 4}));
  EXPECT_TRUE(slice.same_storage(flat.slice(2, {4})));
  EXPECT_FALSE(slice.same_storage(flat));
  slice.fill_(9);
  EXPECT_EQ(flat.at(5), 9);
  EXPECT_EQ(flat.at(6), 6);
}

TEST(TensorGrad, MayBeAViewOfABucket) {
  Tensor parameter = leaf({1, 2}, {2});
  const Tensor bucket = Tensor::from({0, 10, 20}, {3}, DType::f64);
  parameter.set_grad(bucket.slice(1, {2}));
  ASSERT_TRUE(backward(sum(parameter).value()).ok());
  EXPECT_EQ(bucket.values(), (Values{0, 11, 21}));
}

TEST(TensorHistory, DetachedTensorsHaveNone) {
  const Tensor a = leaf({1}, {1});
  const Tensor b = scale(a, 2).value();
  EXPECT_TRUE(b.requires_grad());
  EXPECT_EQ(b.grad_fn()->name(), "MulBackward0");
  EXPECT_FALSE(b.detach().requires_grad());
  EXPECT_FALSE(b.clone().requires_grad());
  EXPECT_EQ(b.detach().grad_fn(), nullptr);
}

TEST(TensorHistory, ALeafIsMadeByItsAccumulateGrad) {
  const Tensor a = leaf({1}, {1});
  EXPECT_EQ(a.grad_fn()->name(), "AccumulateGrad");
  const auto held = a.grad_fn();
  EXPECT_EQ(held, a.grad_fn());
  EXPECT_EQ(Tensor::zeros({1}).grad_fn(), nullptr);
}

}  // namespace
}  // namespace pdsim::nn
