#include "core/nn/optimizer.h"

#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim::nn {
namespace {

using Kind = OptimizerSpec::Kind;

Tensor parameter(double value, double gradient) {
  Tensor p = leaf({value}, {1});
  p.set_grad(Tensor::from({gradient}, {1}, DType::f64));
  return p;
}

TEST(Sgd, StepsAgainstTheGradient) {
  Tensor p = parameter(1.0, 0.5);
  const auto optimizer = Optimizer::make({Kind::sgd, 0.25}, {p});
  optimizer->step();
  EXPECT_EQ(p.at(0), 0.875);
  EXPECT_EQ(p.version(), 1U);
}

TEST(Sgd, MomentumStartsWithTheGradientItself) {
  Tensor p = parameter(0.0, 1.0);
  const auto optimizer = Optimizer::make({Kind::sgd, 1.0, 0.5}, {p});
  optimizer->step();
  EXPECT_EQ(p.at(0), -1.0);
  optimizer->step();  // 0.5 * 1 + 1
  EXPECT_EQ(p.at(0), -2.5);
  p.grad().fill_(0.0);
  optimizer->step();  // 0.5 * 1.5
  EXPECT_EQ(p.at(0), -3.25);
}

TEST(Adam, FollowsItsFormulas) {
  Tensor p = parameter(1.0, 0.5);
  const auto optimizer = Optimizer::make({Kind::adam, 0.1}, {p});
  double m = 0, v = 0, x = 1.0;
  for (int t = 1; t <= 3; ++t) {
    const double g = 0.5 * t;
    p.grad().fill_(g);
    optimizer->step();
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    x -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(p.at(0), x, 1e-14) << t;
  }
}

TEST(Adam, TheFirstStepIsTheLearningRateWhateverTheGradient) {
  for (const double g : {1e-3, 1.0, 1e3}) {
    Tensor p = parameter(0.0, g);
    Optimizer::make({Kind::adam, 0.01}, {p})->step();
    EXPECT_NEAR(p.at(0), -0.01, 1e-6);
  }
}

TEST(Optimizers, SkipParametersWithoutGradient) {
  for (const Kind kind : {Kind::sgd, Kind::adam}) {
    Tensor p = leaf({3}, {1});
    const auto optimizer = Optimizer::make({kind, 0.5, 0.9}, {p});
    optimizer->step();
    EXPECT_EQ(p.at(0), 3);
    EXPECT_EQ(p.version(), 0U);
  }
}

TEST(Optimizers, ComputeInThePrecisionOfTheParameter) {
  Tensor p = Tensor::from({1.0}, {1}).set_requires_grad(true);
  p.set_grad(Tensor::from({1.0}, {1}));
  Optimizer::make({Kind::sgd, 0.1}, {p})->step();
  EXPECT_EQ(p.at(0), static_cast<double>(1.0F - 0.1F));
}

TEST(Optimizers, ZeroGradSetsGradientsToNone) {
  Tensor p = parameter(1.0, 0.5);
  Optimizer::make({}, {p})->zero_grad();
  EXPECT_FALSE(p.grad().defined());
}

}  // namespace
}  // namespace pdsim::nn
