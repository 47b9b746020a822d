// Models of which only sizes and times count, as they run.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

constexpr const char* two_layers = "{a: {meta: [[1000, 100]], compute: 1ms}, b: {meta: [[1000, 50]], compute: 2ms}}";

// "pass", or the first expectation that did not hold and what came; of four ranks, whose optimizer takes no time.
std::string checked(const std::string& expect, const std::string& ddp = "{}", const std::string& layers = two_layers,
                    const std::string& world = "") {
  const LoadedFile file =
      load_text("mine.yaml",
                fmt::format("pdsim: 1\nname: mine\nsummary: one sentence\n"
                            "world: {{ranks: 4, backend: nccl{}}}\nmodel: {{layers: {}}}\nddp: {}\n"
                            "optimizer: {{sgd: {{}}, compute: 0ms}}\nloss: sum\n"
                            "program:\n  - init_process_group\n  - train: {{steps: 4}}\nexpect: {{outcome: ok, {}}}\n",
                            world, layers, ddp, expect));
  if (file.errors > 0) return render(file, file.diagnostics.front());
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return report.error().message;
  if (report->failures.empty()) return report->diagnosis() ? report->diagnosis()->headline : "pass";
  return report->failures.front().expected + "; got " + report->failures.front().got;
}

// 3ms forward, then 4ms and 2ms backward; a ring of 4 at 25GB/s: 200000B in 6 x (5us + 2us), 400000B in 6 x (5us + 4us).
TEST(SizedModel, HidesAllButTheLastBucketBehindBackward) {
  EXPECT_EQ(checked("step_time: {near: 9.054ms, within: 0}", "{bucket_cap: 0B}"), "pass");
  EXPECT_EQ(checked("step_time: {near: 9.066ms, within: 0}"), "pass");  // one bucket
  EXPECT_EQ(checked("step_time: {near: 9.066ms, within: 0}", "{bucket_cap: 0B}"),
            "step_time: near 9.066ms; got 9.054ms");
  EXPECT_EQ(checked("step_time: {max: 9.05ms}", "{bucket_cap: 0B}"), "step_time: max 9.05ms; got 9.054ms");
  EXPECT_EQ(checked("step_time: {min: 9.06ms}", "{bucket_cap: 0B}"), "step_time: min 9.06ms; got 9.054ms");
}

TEST(SizedModel, WaitsForItsSlowestRank) {
  EXPECT_EQ(checked("step_time: {near: 18.054ms, within: 0}", "{bucket_cap: 0B}", two_layers,
                    ", speeds: [{rank: 3, work: 2}]"),
            "pass");
}

TEST(SizedModel, HasBucketsOfItsBytes) {
  EXPECT_EQ(checked("buckets: {count: 2, bytes: [200000, 400000], initial_bytes: [600000]}", "{bucket_cap: 0B}"),
            "pass");
  EXPECT_EQ(checked("buckets: {count: 1}", "{bucket_cap: 0B}"), "buckets: count 1; got rank 0: 2");
  EXPECT_EQ(checked("buckets: {bytes: [200000, 400004]}", "{bucket_cap: 0B}"),
            "buckets: bytes 200000, 400004; got rank 0: 200000, 400000");
  EXPECT_EQ(checked("buckets: {initial_bytes: [1]}"), "buckets: initial_bytes 1; got rank 0: 600000");
}

TEST(SizedModel, SendsHalfTheBytesInAShortTypeOrThroughAHook) {
  constexpr const char* half =
      "{a: {meta: [[1000, 100]], dtype: f16, compute: 1ms}, b: {meta: [[1000, 50]], dtype: f16, compute: 2ms}}";
  EXPECT_EQ(
      checked("buckets: {bytes: [100000, 200000]}, step_time: {near: 9.042ms, within: 0}", "{bucket_cap: 0B}", half),
      "pass");
  for (const char* hook : {"fp16_compress", "bf16_compress"})
    EXPECT_EQ(checked("buckets: {bytes: [200000, 400000]}, step_time: {near: 9.042ms, within: 0}",
                      fmt::format("{{bucket_cap: 0B, comm_hook: {}}}", hook)),
              "pass");
  EXPECT_EQ(checked("step_time: {near: 9.054ms, within: 0}", "{bucket_cap: 0B, comm_hook: allreduce}"), "pass");
}

TEST(SizedModel, ServesEveryOptionOfDdp) {
  for (const char* ddp : {"{find_unused_parameters: true}", "{static_graph: true}", "{gradient_as_bucket_view: true}",
                          "{broadcast_buffers: false, bucket_cap: 0B, gradient_as_bucket_view: true}"})
    EXPECT_EQ(checked("step_time: {max: 9.1ms}", ddp), "pass") << ddp;
}

TEST(SizedModel, MixesWithLayersThatCompute) {
  constexpr const char* mixed = "{a: {linear: [4, 4]}, s: {meta: [[1000, 100], [100]]}, b: {linear: [4, 4]}}";
  EXPECT_EQ(checked("values: [{tensor: a.weight, equals: single_process, tolerance: 1e-6}, {tensor: b.bias.grad, "
                    "across_ranks: equal}], buckets: {bytes: [400560]}",
                    "{}", mixed),
            "pass");
  EXPECT_EQ(checked("values: [{tensor: a.weight, equals: single_process, tolerance: 1e-6}]",
                    "{gradient_as_bucket_view: true, bucket_cap: 0B}", mixed),
            "pass");
}

TEST(SizedModel, NeedsNoMemory) {
  constexpr const char* large = "{a: {meta: 70000000000, dtype: bf16, compute: 1s}}";  // 140GB on each rank
  EXPECT_EQ(checked("buckets: {bytes: [140000000000]}", "{}", large), "pass");
}

}  // namespace
}  // namespace pdsim::scenarios
