// Embedding, conv2d, batch normalisation of images, layer normalisation, dropout: values, gradients, refusals.
#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pdsim::nn {
namespace {

LayerSpec embedding(std::int64_t rows, std::int64_t columns, std::int64_t indices) {
  LayerSpec layer{"table", LayerKind::embedding, indices, indices * columns};
  layer.rows = rows;
  return layer;
}

LayerSpec images(LayerKind kind, std::int64_t channels, std::int64_t height, std::int64_t width) {
  LayerSpec layer{"images", kind, channels * height * width, channels * height * width};
  layer.channels = channels;
  layer.height = height;
  layer.width = width;
  return layer;
}

LayerSpec conv2d(std::int64_t channels, std::int64_t side, std::int64_t filters, std::int64_t kernel,
                 std::int64_t stride, std::int64_t padding) {
  LayerSpec layer = images(LayerKind::conv2d, channels, side, side);
  layer.filters = filters;
  layer.kernel = kernel;
  layer.stride = stride;
  layer.padding = padding;
  const std::int64_t out = (side + 2 * padding - kernel) / stride + 1;
  layer.out = filters * out * out;
  return layer;
}

LayerSpec dropout(double probability) {
  LayerSpec layer{"drop", LayerKind::dropout};
  layer.probability = probability;
  return layer;
}

Tensor row(const Values& values) {
  return Tensor::from(values, {1, static_cast<std::int64_t>(values.size())}, DType::f64);
}

void set(Module& module, const std::string& name, const Values& values) {
  Tensor t = module.find(name);
  t.copy_(Tensor::from(values, t.shape(), t.dtype()).view());
}

TEST(Embedding, GivesTheRowsOfItsIndicesAndSumsTheirGradients) {
  Module module(spec_of({embedding(3, 2, 2)}), Random(1));
  set(module, "table.weight", {0, 1, 10, 11, 20, 21});
  const auto out = module.forward(Tensor::from({2, 0, 2, 2}, {2, 2}, DType::f64), "", {});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->values(), (Values{20, 21, 0, 1, 20, 21, 20, 21}));
  ASSERT_TRUE(backward(sum(*out).value()).ok());
  EXPECT_EQ(module.find("table.weight").grad().values(), (Values{1, 1, 0, 0, 3, 3}));
}

TEST(Embedding, RefusesAnIndexOutsideItsTable) {
  Module module(spec_of({embedding(3, 2, 1)}), Random(1));
  for (const double index : {-1.0, 3.0, std::nan("")})
    EXPECT_EQ(module.forward(row({index}), "", {}).error().code, Code::invalid_argument) << index;
}

TEST(Conv2d, IsTheCrossCorrelationOfPyTorch) {
  Module module(spec_of({conv2d(1, 3, 1, 2, 1, 0)}), Random(1));
  set(module, "images.weight", {1, 2, 3, 4});
  set(module, "images.bias", {0.5});
  const auto out = module.forward(row({1, 2, 3, 4, 5, 6, 7, 8, 9}), "", {});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->values(), (Values{37.5, 47.5, 67.5, 77.5}));
}

TEST(Conv2d, StridesAndPads) {
  Module module(spec_of({conv2d(1, 3, 1, 3, 2, 1)}), Random(1));
  set(module, "images.weight", Values(9, 1.0));
  set(module, "images.bias", {0});
  const auto out = module.forward(row({1, 2, 3, 4, 5, 6, 7, 8, 9}), "", {});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->values(), (Values{12, 16, 24, 28}));
}

TEST(Conv2d, GradientsAgreeWithFiniteDifferences) {
  Random random(4);
  for (const LayerSpec& layer : {conv2d(1, 3, 1, 2, 1, 0), conv2d(2, 4, 3, 3, 2, 1), conv2d(2, 2, 1, 1, 1, 0)}) {
    Module module(spec_of({layer}), Random(1));
    expect_module_gradients(module, random_tensor(random, {2, layer.in}), "full", {});
  }
}

TEST(BatchNorm2d, NormalisesEachChannelOverRowsAndPixels) {
  Module module(spec_of({images(LayerKind::batchnorm2d, 2, 1, 2)}), Random(1));
  const auto out = module.forward(Tensor::from({1, 3, 10, 10, 5, 7, 10, 10}, {2, 4}, DType::f64), "", {});
  ASSERT_TRUE(out.ok());
  const double deviation = std::sqrt(5.0 + 1e-5);  // of 1, 3, 5, 7 around 4
  EXPECT_NEAR(out->at(0), -3.0 / deviation, 1e-12);
  EXPECT_NEAR(out->at(5), 3.0 / deviation, 1e-12);
  EXPECT_NEAR(out->at(2), 0.0, 1e-12);
  EXPECT_NEAR(module.find("images.running_mean").at(0), 0.4, 1e-12);
  EXPECT_NEAR(module.find("images.running_var").at(0), 0.9 + 0.1 * 20.0 / 3.0, 1e-12);
}

TEST(BatchNorm2d, GradientsAgreeWithFiniteDifferences) {
  Random random(5);
  Module module(spec_of({images(LayerKind::batchnorm2d, 2, 2, 2)}), Random(1));
  for (const bool training : {true, false})
    expect_module_gradients(module, random_tensor(random, {3, 8}), "full", {training, true});
}

TEST(LayerNorm, NormalisesEachRow) {
  Module module(spec_of({{"norm", LayerKind::layernorm, 2, 2}}), Random(1));
  const auto out = module.forward(Tensor::from({1, 3, -5, 5}, {2, 2}, DType::f64), "", {});
  ASSERT_TRUE(out.ok());
  EXPECT_NEAR(out->at(0), -1.0 / std::sqrt(1.0 + 1e-5), 1e-12);
  EXPECT_NEAR(out->at(3), 5.0 / std::sqrt(25.0 + 1e-5), 1e-12);
}

TEST(LayerNorm, GradientsAgreeWithFiniteDifferences) {
  Random random(6);
  for (const std::int64_t width : {1, 2, 5}) {
    Module module(spec_of({{"norm", LayerKind::layernorm, width, width}}), Random(1));
    set(module, "norm.weight", Values(static_cast<std::size_t>(width), 1.5));
    expect_module_gradients(module, random_tensor(random, {3, width}), "full", {});
  }
}

TEST(Dropout, KeepsAboutAsManyAsItSaysAndScalesThem) {
  Module module(spec_of({dropout(0.25)}), Random(1));
  const auto out = module.forward(row(Values(4000, 3.0)), "", {});
  ASSERT_TRUE(out.ok());
  int kept = 0;
  for (const double v : out->values()) {
    EXPECT_TRUE(v == 0.0 || v == 4.0) << v;
    kept += v != 0.0 ? 1 : 0;
  }
  EXPECT_NEAR(kept, 3000, 150);
}

TEST(Dropout, DrawsAnotherMaskInEveryForwardAndForEveryNoise) {
  const auto masks = [](std::uint64_t noise) {
    Module module(spec_of({dropout(0.5)}), Random(1));
    module.set_noise(Random(noise));
    const Tensor ones = row(Values(64, 1.0));
    return std::pair{module.forward(ones, "", {})->values(), module.forward(ones, "", {})->values()};
  };
  EXPECT_NE(masks(1).first, masks(1).second);
  EXPECT_NE(masks(1).first, masks(2).first);
  EXPECT_EQ(masks(1), masks(1));
}

TEST(Dropout, DoesNothingInEvaluationAndPassesGradientsThroughItsMask) {
  Module module(spec_of({dropout(0.5)}), Random(1));
  EXPECT_EQ(module.forward(row({1, 2}), "", {false, true})->values(), (Values{1, 2}));
  Tensor input = leaf(Values(16, 1.0), {1, 16});
  const auto out = module.forward(input, "", {});
  ASSERT_TRUE(out.ok());
  ASSERT_TRUE(backward(sum(*out).value()).ok());
  EXPECT_EQ(input.grad().values(), out->values());
}

TEST(Dropout, TakesTheWholeRangeOfProbabilities) {
  for (const double probability : {0.0, 1.0}) {
    Module module(spec_of({dropout(probability)}), Random(1));
    EXPECT_EQ(module.forward(row({1, 2}), "", {})->values(), (probability > 0.0 ? Values{0, 0} : Values{1, 2}));
  }
}

TEST(LayerDtype, IsCastToAndTheGradientBack) {
  ModuleSpec spec = spec_of({{"fc1", LayerKind::linear, 2, 2}, {"fc2", LayerKind::linear, 2, 1}});
  spec.layers[1].dtype = DType::f32;
  Module module(spec, Random(1));
  EXPECT_EQ(module.find("fc1.weight").dtype(), DType::f64);
  EXPECT_EQ(module.find("fc2.weight").dtype(), DType::f32);
  const auto out = module.forward(row({0.1, 0.2}), "", {});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->dtype(), DType::f32);
  ASSERT_TRUE(backward(sum(*out).value()).ok());
  EXPECT_EQ(module.find("fc1.weight").grad().dtype(), DType::f64);
  const Values w = module.find("fc2.weight").values();
  EXPECT_NEAR(module.find("fc1.bias").grad().at(1), w[1], 1e-7);
}

TEST(Recompute, GivesTheGradientsOfTheLayerThatIsNotRunAgain) {
  const auto gradients = [](bool again) {
    ModuleSpec spec = spec_of({{"fc1", LayerKind::linear, 2, 3}, {"fc2", LayerKind::linear, 3, 3}},
                              {{"full", {"fc1", "fc2", "fc2"}}});
    if (again) spec.recompute = {"fc2"};
    Module module(spec, Random(1));
    EXPECT_TRUE(backward(sum(*module.forward(row({0.5, -1}), "", {})).value()).ok());
    Values all;
    for (const Tensor& p : module.parameters())
      for (const double v : p.grad().values()) all.push_back(v);
    return all;
  };
  const Values once = gradients(false), twice = gradients(true);
  ASSERT_EQ(once.size(), twice.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(once[i], twice[i], 1e-14);
}

TEST(Recompute, FiresTheHooksOfALayerOncePerPlaceInThePath) {
  ModuleSpec spec =
      spec_of({{"fc1", LayerKind::linear, 2, 2}, {"fc2", LayerKind::linear, 2, 2}}, {{"full", {"fc1", "fc2", "fc2"}}});
  for (const bool again : {false, true}) {
    if (again) spec.recompute = {"fc2"};
    Module module(spec, Random(1));
    int fired = 0;
    Tensor bias = module.find("fc2.bias");
    register_post_accumulate_hook(bias, [&fired](Tensor&) {
      ++fired;
      return Status{};
    });
    EXPECT_TRUE(backward(sum(*module.forward(row({1, 2}), "", {})).value()).ok());
    EXPECT_EQ(fired, again ? 2 : 1);
  }
}

}  // namespace
}  // namespace pdsim::nn
