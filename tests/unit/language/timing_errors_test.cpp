// Times, arithmetic and sizes of layers, and what is expected of steps and buckets: each error as the user sees it.
#include "tests/unit/language/report_of.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

// The norm of the valid model replaced by this layer, in another way through it.
std::string layer(std::string_view text) { return report_of(with("norm: {batchnorm: 8}", text)); }
std::string expecting(std::string_view text) { return report_of(with("expect: {outcome: ok}", text)); }
bool says(const std::string& report, std::string_view what) { return report.find(what) != std::string::npos; }

TEST(TimingError, LayersWithTimesAndSizesAreFine) {
  for (const char* text : {"norm: {batchnorm: 8, compute: 3ms}", "norm: {meta: [[4096, 25088], [4096]]}",
                           "norm: {meta: 25557032, dtype: bf16, compute: 1ms, backward: 0ms}", "norm: {meta: []}",
                           "norm: {meta: [[]], frozen: true}"})
    EXPECT_EQ(layer(text), "") << text;
  EXPECT_EQ(report_of(with("  ranks: 2", "  ranks: 2\n  device_speed: 19.5TFLOP/s")), "");
}

TEST(TimingError, AShapeIsAListOfWholeNumbers) {
  EXPECT_EQ(layer("norm: {meta: [4096, 25088]}"), R"(error[scenario]: `meta`: a list is not a list of shapes
  --> mine.yaml:8:50
  |
8 |   layers: {trunk: {linear: [4, 8]}, norm: {meta: [4096, 25088]}, head: {linear: [8, 1]}}
  |                                                  ^^^^^^^^^^^^^ expected shapes such as [[64, 3, 7, 7], [64]], or a number of elements; 1099511627776 elements at most
)");
  for (const char* text : {"[[-1]]", "[[1.5]]", "[[a]]", "{a: 1}", "1e6", "[[2097152, 2097152]]",
                           "[[4294967296, 4294967296, 4294967296]]", "[[1099511627776], [1]]"})
    EXPECT_TRUE(says(layer(std::string("norm: {meta: ") + text + "}"), "list of shapes")) << text;
}

TEST(TimingError, ArithmeticNeedsADeviceAndStandsInsteadOfATime) {
  EXPECT_EQ(layer("norm: {meta: [], flops: 2GFLOP}"), R"(error[scenario]: `flops` without the speed of a device
  --> mine.yaml:8:54
  |
8 | ...: {trunk: {linear: [4, 8]}, norm: {meta: [], flops: 2GFLOP}, head: {linear: [8, 1]}}
  |                                                 ^^^^^ give `device_speed: 19.5TFLOP/s` in world, or `compute` instead
)");
  EXPECT_TRUE(says(layer("norm: {meta: [], flops: 2GFLOP, compute: 1ms}"), "`flops` beside `compute`"));
  EXPECT_TRUE(says(layer("norm: {meta: [], flops: 2GB}"), "`2GB` is not an amount of arithmetic"));
  EXPECT_TRUE(says(report_of(with("  ranks: 2", "  ranks: 2\n  device_speed: 0TFLOP/s")), "never finishes"));
}

TEST(TimingError, ValuesAreWhatSizedLayersDoNotHave) {
  EXPECT_TRUE(says(layer("norm: {batchnorm: 8, dtype: bf16}"), "`norm` computes in bf16"));
  const std::string meta = with("norm: {batchnorm: 8}", "norm: {meta: [[8]]}");
  const auto also = [&](std::string_view old, std::string_view now) {
    std::string text = meta;
    return report_of(text.replace(text.find(old), old.size(), now));
  };
  EXPECT_TRUE(says(also("  - barrier\n", "  - checkpoint: {path: a}\n"), "`checkpoint` of parameters without values"));
  EXPECT_TRUE(says(also("program:\n", "ddp: {comm_hook: powersgd}\nprogram:\n"), "`powersgd` of gradients without"));
  EXPECT_TRUE(says(also("{outcome: ok}", "{outcome: ok, values: [{tensor: norm.p0, near: 0}]}"), "unknown tensor"));
}

TEST(TimingError, StepsAndBucketsThatCannotBeThere) {
  EXPECT_EQ(expecting("expect: {outcome: ok, step_time: {near: 3ms, step: 2}, buckets: {count: 1, bytes: [4]}}"), "");
  EXPECT_TRUE(says(expecting("expect: {outcome: ok, step_time: {near: 3ms, step: 3}}"), "step 3 is never run"));
  EXPECT_TRUE(says(expecting("expect: {outcome: ok, step_time: {step: 1}}"), "a time without an expectation"));
  EXPECT_TRUE(says(expecting("expect: {outcome: ok, step_time: {min: 3ms, max: 2ms}}"), "`min` is greater than `max`"));
  EXPECT_TRUE(says(expecting("expect: {outcome: ok, buckets: {}}"), "buckets without an expectation"));
  EXPECT_TRUE(says(expecting("ddp: none\nexpect: {outcome: ok, buckets: {count: 1}}"), "`ddp: none` has no buckets"));
  std::string text = with("  - train: {steps: 3}\n", "");
  text.replace(text.find("{outcome: ok}"), 13, "{outcome: ok, step_time: {max: 1s}}");
  EXPECT_TRUE(says(report_of(text), "`step_time` without a `train`"));
}

TEST(DataParallelError, IsOneProcessWithTheDevicesThatItHas) {
  const auto splitting = [](std::string_view options, std::string_view ranks = "  ranks: 1") {
    std::string text = with("  ranks: 2", ranks);
    return report_of(text.replace(text.find("program:"), 8, fmt::format("data_parallel: {}\nprogram:", options)));
  };
  EXPECT_EQ(splitting("{devices: 4, output_device: 3}"), "");
  EXPECT_EQ(splitting("none", "  ranks: 2"), "");
  EXPECT_TRUE(says(splitting("{devices: 4}", "  ranks: 2"), "`data_parallel` in a world of 2 ranks"));
  EXPECT_TRUE(says(splitting("{devices: 4, output_device: 4}"), "device 4 of 4"));
  EXPECT_TRUE(says(splitting("{output_device: 0}"), "`devices` is missing in data_parallel"));
  EXPECT_TRUE(says(splitting("{devices: 0}"), "out of range"));
  EXPECT_TRUE(says(expecting("expect: {outcome: ok, device_rows: [4]}"), "`device_rows` without `data_parallel`"));
}

}  // namespace
}  // namespace pdsim::scenarios
