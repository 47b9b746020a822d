// state_dict, its file, what does not fit; gradient clipping.
#include "core/nn/state_dict.h"

#include "core/nn/clip.h"
#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <limits>

namespace pdsim::nn {
namespace {

ModuleSpec model(std::int64_t out = 2) {
  ModuleSpec spec = spec_of({{"fc", LayerKind::linear, 3, out}, {"norm", LayerKind::batchnorm, out}});
  spec.dtype = DType::f32;
  return spec;
}

std::vector<std::string> keys(const StateDict& state) {
  std::vector<std::string> out;
  for (const auto& [key, tensor] : state) out.push_back(key);
  return out;
}

std::string refusal(const ModuleSpec& spec, const StateDict& saved, std::string_view prefix) {
  Module module(spec, Random(2));
  const Status status = load_state_dict(module, saved, prefix, true, "Net");
  EXPECT_FALSE(status.ok());
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, Code::state_dict_mismatch);
  return status.error().message;
}

TEST(StateDict, ListsEachLayersParametersThenBuffersWithThePrefix) {
  Module module(model(), Random(1));
  EXPECT_EQ(keys(state_dict(module, "module.")),
            (std::vector<std::string>{"module.fc.weight", "module.fc.bias", "module.norm.weight", "module.norm.bias",
                                      "module.norm.running_mean", "module.norm.running_var",
                                      "module.norm.num_batches_tracked"}));
}

TEST(StateDict, ComesBackFromItsFileToTheBit) {
  Module saved(model(), Random(1));
  Module loaded(model(), Random(2));
  saved.find("fc.bias").copy_(Tensor::from({1e-45, -3.4e38}, {2}, DType::f32).view());
  const auto state = parse_checkpoint(checkpoint_text(state_dict(saved, "")), "f");
  ASSERT_TRUE(state.ok()) << state.error().message;
  ASSERT_TRUE(load_state_dict(loaded, *state, "", true, "Net").ok());
  for (const Tensor& p : saved.parameters()) EXPECT_EQ(p.values(), loaded.find(p.name()).values()) << p.name();
  EXPECT_EQ(loaded.find("norm.num_batches_tracked").dtype(), DType::i64);
}

TEST(StateDict, NamesMissingAndUnexpectedKeysInPyTorchsShape) {
  Module module(model(), Random(1));
  StateDict saved = state_dict(module, "");
  saved.erase(saved.begin());
  saved.emplace_back("head.weight", Tensor::zeros({1}));
  EXPECT_EQ(refusal(model(), saved, ""),
            "Error(s) in loading state_dict for Net: Missing key(s) in state_dict: \"fc.weight\". Unexpected key(s) in "
            "state_dict: \"head.weight\".");
}

TEST(StateDict, TellsThePrefixOnEitherSide) {
  Module module(model(), Random(1));
  EXPECT_NE(refusal(model(), state_dict(module, "module."), "").find("saved from DDP's wrapper"), std::string::npos);
  EXPECT_NE(refusal(model(), state_dict(module, ""), "module.").find("saved from the module itself"),
            std::string::npos);
}

TEST(StateDict, NamesAShapeThatDiffersAndCopiesTheRest) {
  Module saved(model(), Random(1));
  Module loaded(model(4), Random(2));
  const Status status = load_state_dict(loaded, state_dict(saved, ""), "", true, "Net");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(
      status.error().message.find("size mismatch for fc.weight: copying a param with shape torch.Size([2, 3]) from "
                                  "checkpoint, the shape in current model is torch.Size([4, 3])."),
      std::string::npos);
  Module other(spec_of({{"fc", LayerKind::linear, 3, 2}, {"tail", LayerKind::linear, 2, 1}}), Random(3));
  EXPECT_FALSE(load_state_dict(other, state_dict(saved, ""), "", true, "Net").ok());
  EXPECT_EQ(other.find("fc.weight").values(), saved.find("fc.weight").values());
}

TEST(StateDict, WithoutStrictKeysMayBeMissingAndShapesMayNotDiffer) {
  Module saved(model(), Random(1));
  Module prefixed(model(), Random(2));
  const Values before = prefixed.find("fc.weight").values();
  EXPECT_TRUE(load_state_dict(prefixed, state_dict(saved, "module."), "", false, "Net").ok());
  EXPECT_EQ(prefixed.find("fc.weight").values(), before);  // nothing was loaded, and nobody says so
  Module wider(model(4), Random(2));
  EXPECT_FALSE(load_state_dict(wider, state_dict(saved, ""), "", false, "Net").ok());
}

TEST(Checkpoint, CutShortAnywhereIsCorrupt) {
  Module module(model(), Random(1));
  const std::string text = checkpoint_text(state_dict(module, ""));
  for (std::size_t end = 0; end < text.size(); ++end) {
    const auto state = parse_checkpoint(std::string_view(text).substr(0, end), "run/model");
    ASSERT_FALSE(state.ok()) << end;
    EXPECT_EQ(state.error().code, Code::checkpoint_corrupt);
  }
}

TEST(Checkpoint, TellsTheLineThatIsWrong) {
  const auto message = [](const std::string& line) {
    const auto state = parse_checkpoint("pdsim checkpoint 1\n" + line + "\nend 1\n", "f");
    return state.ok() ? "ok" : state.error().message;
  };
  EXPECT_EQ(message("a f32 2 1 2"), "ok");
  EXPECT_NE(message("a f32 3 1 2").find("f, line 2: 2 values for 3 elements"), std::string::npos);
  EXPECT_NE(message("a f99 2 1 2").find("the dtype"), std::string::npos);
  EXPECT_NE(message("a f32 2,x 1 2").find("a shape"), std::string::npos);
  EXPECT_NE(message("a f32 2 1 b").find("a value is not a number"), std::string::npos);
  EXPECT_NE(message("a f32 99999999999999 1").find("a shape"), std::string::npos);
}

Values clipped(const Values& gradient, const ClipOptions& options, double norm) {
  std::vector<Tensor> parameters{leaf(Values(gradient.size(), 0.0), {static_cast<std::int64_t>(gradient.size())}),
                                 leaf({1}, {1})};
  parameters[0].set_grad(Tensor::from(gradient, parameters[0].shape(), DType::f64));
  const auto got = clip_grad_norm(parameters, options);
  EXPECT_TRUE(got.ok());
  EXPECT_DOUBLE_EQ(*got, norm);
  EXPECT_FALSE(parameters[1].grad().defined());
  return parameters[0].grad().values();
}

TEST(ClipGradNorm, ScalesDownToTheLargestNormAndNeverUp) {
  EXPECT_EQ(clipped({3, 4}, {10.0}, 5.0), (Values{3, 4}));
  EXPECT_NEAR(clipped({3, 4}, {1.0}, 5.0)[0], 0.6, 1e-6);
  ClipOptions largest;
  largest.norm_type = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(clipped({3, -4}, largest, 4.0)[1], -1.0, 1e-6);
}

TEST(ClipGradNorm, ToldToItRefusesANormThatIsNotFinite) {
  std::vector<Tensor> parameters{leaf({0}, {1})};
  parameters[0].set_grad(Tensor::from({std::numeric_limits<double>::infinity()}, {1}, DType::f64));
  ClipOptions options;
  options.error_if_nonfinite = true;
  EXPECT_EQ(clip_grad_norm(parameters, options).error().code, Code::autograd_misuse);
  options.error_if_nonfinite = false;
  EXPECT_TRUE(clip_grad_norm(parameters, options).ok());
}

}  // namespace
}  // namespace pdsim::nn
