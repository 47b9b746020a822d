// In-place writes between a forward and its backward.
#include "core/nn/optimizer.h"
#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

namespace pdsim::nn {
namespace {

Tensor input() { return Tensor::from({1, 2, 3, 5}, {2, 2}, DType::f64); }

TEST(SavedTensors, AWriteAfterForwardIsFoundWithPyTorchsWording) {
  Module module({{{"norm", LayerKind::batchnorm, 4}}, {}, DType::f32}, Random(1));
  Tensor running_mean = module.find("norm.running_mean");
  for (int i = 0; i < 3; ++i) running_mean.bump_version();
  const auto output = module.forward(Tensor::from({1, 2, 3, 4, 5, 6, 7, 9}, {2, 4}), "", {});
  running_mean.fill_(0);  // what DDP's buffer broadcast does
  const Error error = backward(sum(*output).value()).error();
  EXPECT_EQ(error.code, Code::saved_tensor_modified);
  EXPECT_EQ(error.message,
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            "[torch.FloatTensor [4]] is at version 4; expected version 3 instead. Hint: norm.running_mean was written "
            "after a forward had saved it; run that forward's backward before the write, or keep the write away from "
            "it.");
  EXPECT_EQ(fact(error.facts, "tensor"), "norm.running_mean");
  EXPECT_EQ(fact(error.facts, "version"), "4");
  EXPECT_EQ(fact(error.facts, "expected"), "3");
}

TEST(SavedTensors, TheWeightIsShownAsTheTransposeThatWasSaved) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 3}, {"b", LayerKind::linear, 3, 1}}), Random(1));
  const auto output = module.forward(input(), "", {});
  module.find("b.weight").fill_(0);
  const Error error = backward(sum(*output).value()).error();
  EXPECT_NE(error.message.find("[torch.DoubleTensor [3, 1]], which is output 0 of TBackward0, is at version 1; "
                               "expected version 0 instead."),
            std::string::npos)
      << error.message;
  EXPECT_EQ(fact(error.facts, "tensor"), "b.weight");
}

TEST(SavedTensors, AnOptimizerStepBetweenForwardAndBackwardIsFound) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 2}, {"b", LayerKind::linear, 2, 1}}), Random(1));
  const auto optimizer = Optimizer::make({}, module.parameters());
  const auto first = module.forward(input(), "", {});
  const auto second = module.forward(input(), "", {});
  ASSERT_TRUE(backward(sum(*first).value()).ok());
  optimizer->step();
  EXPECT_EQ(fact(backward(sum(*second).value()).error().facts, "tensor"), "b.weight");
}

TEST(SavedTensors, AWeightThatOnlyItsOwnGradientNeedsMayChange) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 2}}), Random(1));
  const auto output = module.forward(input(), "", {});
  module.find("a.weight").fill_(0);
  module.find("a.bias").fill_(0);
  EXPECT_TRUE(backward(sum(*output).value()).ok());
}

TEST(SavedTensors, AnInputWrittenInPlaceIsFound) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 2}}), Random(1));
  Tensor x = input();
  const auto output = module.forward(x, "", {});
  x.fill_(0);
  EXPECT_EQ(backward(sum(*output).value()).error().code, Code::saved_tensor_modified);
}

TEST(SavedTensors, ReluSavesItsOutputWithoutOwningItself) {
  Module module(spec_of({{"a", LayerKind::linear, 2, 2}, {"act", LayerKind::relu}}), Random(1));
  auto output = module.forward(input(), "", {});
  output->fill_(1);
  const Error error = backward(sum(*output).value()).error();
  EXPECT_NE(error.message.find(", which is output 0 of ReluBackward0, is at version 1; expected version 0"),
            std::string::npos)
      << error.message;
}

TEST(SavedTensors, TwoTrainingForwardsOfBatchNormMayBothRunBackward) {
  Module module(spec_of({{"norm", LayerKind::batchnorm, 2}}), Random(1));
  const auto first = module.forward(input(), "", {});
  const auto second = module.forward(input(), "", {});
  EXPECT_EQ(module.find("norm.running_mean").version(), 0U);
  EXPECT_EQ(module.find("norm.num_batches_tracked").version(), 2U);
  EXPECT_TRUE(backward(add(sum(*first).value(), sum(*second).value()).value()).ok());
}

TEST(SavedTensors, TheWatcherIsToldWhatWasSavedAndWritten) {
  Module module(spec_of({{"fc", LayerKind::linear, 2, 2}, {"norm", LayerKind::batchnorm, 2}}), Random(1));
  std::vector<std::string> events;
  const TensorWatcher watcher = [&events](const TensorEvent& e) {
    events.push_back((e.saved ? "saved " : "written ") + e.tensor + " " + std::to_string(e.version) + " by " + e.by);
  };
  ASSERT_TRUE(module.forward(input(), "", {}, watcher).ok());
  EXPECT_EQ(events,
            (std::vector<std::string>{"written norm.num_batches_tracked 1 by norm", "saved norm.running_mean 0 by norm",
                                      "saved norm.running_var 0 by norm", "saved norm.weight 0 by norm"}));
}

}  // namespace
}  // namespace pdsim::nn
