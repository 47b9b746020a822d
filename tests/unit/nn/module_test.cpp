#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim::nn {
namespace {

std::vector<std::string> names(const std::vector<Tensor>& tensors) {
  std::vector<std::string> out;
  for (const Tensor& t : tensors) out.push_back(t.name());
  return out;
}

ModuleSpec everything() {
  return spec_of({{"fc1", LayerKind::linear, 3, 4},
                  {"norm", LayerKind::batchnorm, 4},
                  {"act", LayerKind::relu},
                  {"fc2", LayerKind::linear, 4, 2}},
                 {{"full", {"fc1", "norm", "act", "fc2"}}, {"short", {"fc1", "norm"}}, {"only", {"act"}}});
}

TEST(Module, NamesItsTensorsInDefinitionOrder) {
  Module module(everything(), Random(1));
  EXPECT_EQ(names(module.parameters()),
            (std::vector<std::string>{"fc1.weight", "fc1.bias", "norm.weight", "norm.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(names(module.buffers()),
            (std::vector<std::string>{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(module.find("fc2.weight").shape(), (Shape{2, 4}));
  EXPECT_EQ(module.find("norm.num_batches_tracked").dtype(), DType::i64);
  EXPECT_FALSE(module.find("fc3.weight").defined());
}

TEST(Module, KnowsTheWidthsOfItsPaths) {
  const Module module(everything(), Random(1));
  EXPECT_EQ(module.input_width("full"), 3);
  EXPECT_EQ(module.output_width(""), 2);
  EXPECT_EQ(module.output_width("short"), 4);
  EXPECT_EQ(module.input_width("only"), 0);
  EXPECT_EQ(module.layer_count("full"), 4U);
}

TEST(Module, WithoutPathsRunsThroughAllLayers) {
  ModuleSpec spec = everything();
  spec.paths.clear();
  const Module module(spec, Random(1));
  ASSERT_EQ(module.spec().paths.size(), 1U);
  EXPECT_EQ(module.spec().paths[0].name, "full");
  EXPECT_EQ(module.layer_count(""), 4U);
}

TEST(Module, RefusesUnknownPathsAndUnfitInputs) {
  Module module(everything(), Random(1));
  const Tensor fits = Tensor::zeros({2, 3}, DType::f64);
  EXPECT_EQ(module.forward(fits, "ful", {}).error().message,
            "the module has no path ful; its paths are full, short, only");
  EXPECT_EQ(module.forward(Tensor::zeros({2, 5}, DType::f64), "", {}).error().message,
            "layer fc1 takes [batch, 3], and its input is [2, 5]");
  EXPECT_EQ(module.forward(Tensor::zeros({2, 3}), "", {}).error().code, Code::shape_mismatch);
  EXPECT_EQ(module.forward(Tensor::zeros({1, 3}, DType::f64), "", {}).error().code, Code::shape_mismatch);
  EXPECT_TRUE(module.forward(Tensor::zeros({1, 3}, DType::f64), "", {false, false}).ok());
}

TEST(Module, WithoutGradientsAForwardMakesNoNode) {
  Module module(everything(), Random(1));
  Random random(2);
  Tensor input = random_tensor(random, {4, 3}).set_requires_grad(true);
  for (const char* path : {"full", "short", "only"}) {
    const auto output = module.forward(input, path, {true, false});
    EXPECT_FALSE(output->requires_grad()) << path;
    EXPECT_EQ(output->grad_fn(), nullptr);
  }
  EXPECT_EQ(module.find("norm.num_batches_tracked").at(0), 2);  // training statistics move all the same
}

TEST(ModuleInit, StaysWithinTheBoundAndDependsOnSeedAndNameOnly) {
  Module module(everything(), Random(1));
  const double bound = 1.0 / std::sqrt(3.0);
  for (const double w : module.find("fc1.weight").values()) EXPECT_LT(std::abs(w), bound);
  ModuleSpec longer = everything();
  longer.layers.insert(longer.layers.begin(), {"fc0", LayerKind::linear, 3, 3});
  Module other(longer, Random(1));
  EXPECT_EQ(other.find("fc2.weight").values(), module.find("fc2.weight").values());
  Module another_seed(everything(), Random(2));
  EXPECT_NE(another_seed.find("fc2.weight").values(), module.find("fc2.weight").values());
}

TEST(ModuleInit, TheSameSeedGivesTheseBits) {
  Module module(spec_of({{"fc", LayerKind::linear, 4, 1}}), Random(1));
  EXPECT_EQ(module.find("fc.weight").values(),
            (Values{0x1.4be5a3d77e716p-2, -0x1.812c424ecc14p-4, 0x1.820d28cadb16p-5, 0x1.7a58f8532e8b8p-3}));
  EXPECT_EQ(module.find("fc.bias").values(), (Values{-0x1.5e91f24d4023p-2}));
}

TEST(Linear, IsTheProductWithTheTransposedWeightPlusBias) {
  Module module(spec_of({{"fc", LayerKind::linear, 2, 3}}), Random(1));
  module.find("fc.weight").copy_(Tensor::from({1, 2, 3, 4, 5, 6}, {3, 2}, DType::f64).view());
  module.find("fc.bias").copy_(Tensor::from({0.5, 0, -1}, {3}, DType::f64).view());
  const auto y = module.forward(Tensor::from({1, 1, 2, -1}, {2, 2}, DType::f64), "", {});
  EXPECT_EQ(y->values(), (Values{3.5, 7, 10, 0.5, 2, 3}));
}

TEST(BatchNorm, TrainingNormalisesByTheBatchAndMovesTheRunningStatistics) {
  Module module(spec_of({{"norm", LayerKind::batchnorm, 1}}), Random(1));
  const auto y = module.forward(Tensor::from({1, 2, 3, 6}, {4, 1}, DType::f64), "", {});
  const double deviation = std::sqrt(3.5 + 1e-5);  // mean 3, biased variance (4 + 1 + 0 + 9) / 4
  const Values centred{-2, -1, 0, 3};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y->at(static_cast<std::int64_t>(i)), centred[i] / deviation, 1e-15);
  EXPECT_NEAR(module.find("norm.running_mean").at(0), 0.3, 1e-15);
  EXPECT_NEAR(module.find("norm.running_var").at(0), 0.9 + 0.1 * 14.0 / 3.0, 1e-15);
  EXPECT_EQ(module.find("norm.num_batches_tracked").at(0), 1);
}

TEST(BatchNorm, EvaluationUsesTheRunningStatisticsAndLeavesThem) {
  Module module(spec_of({{"norm", LayerKind::batchnorm, 1}}), Random(1));
  module.find("norm.running_mean").fill_(2.0);
  module.find("norm.running_var").fill_(4.0);
  module.find("norm.weight").fill_(3.0);
  module.find("norm.bias").fill_(1.0);
  const auto y = module.forward(Tensor::from({6}, {1, 1}, DType::f64), "", {false, true});
  EXPECT_NEAR(y->at(0), 4.0 / std::sqrt(4.0 + 1e-5) * 3.0 + 1.0, 1e-15);
  EXPECT_EQ(module.find("norm.running_mean").at(0), 2.0);
  EXPECT_EQ(module.find("norm.num_batches_tracked").at(0), 0);
}

TEST(Relu, KeepsPositivesAndNotANumber) {
  Module module(spec_of({{"act", LayerKind::relu}}), Random(1));
  const auto y = module.forward(Tensor::from({-1, 0, 2, NAN}, {1, 4}, DType::f64), "", {});
  EXPECT_EQ(y->at(0), 0);
  EXPECT_EQ(y->at(2), 2);
  EXPECT_TRUE(std::isnan(y->at(3)));
}

}  // namespace
}  // namespace pdsim::nn
