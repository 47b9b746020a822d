// Generated DDP trainings with a planted mistake each: the diagnosis names it, the rank, the step and the parameters; the same
// training without the mistake, or with its cure, is never diagnosed.

#include "core/base/random.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

// A trunk, layers in between that a path may leave out, with or without batch norm, and a head.
struct RandomTraining {
  explicit RandomTraining(std::uint64_t seed) : random(seed) {
    constexpr const char* names[] = {"gloo", "nccl", "mpi", "ideal"};
    constexpr const char* caps[] = {"25MiB", "256B", "64B"};
    backend = names[random.below(4)];
    cap = caps[random.below(3)];
    ranks = 2 + static_cast<int>(random.below(4));
    steps = 2 + static_cast<int>(random.below(3));
    culprit = static_cast<int>(random.below(static_cast<std::uint64_t>(ranks)));
    step = static_cast<int>(random.below(static_cast<std::uint64_t>(steps)));
    has_norm = random.below(2) == 0;
  }

  std::string text() const {
    const std::string norm = has_norm ? "    norm: {batchnorm: 8}\n" : "", in_path = has_norm ? "norm, " : "";
    const std::string takes =
        skips ? fmt::format("  branches:\n    - {{path: short, when: {{rank: {}, step: {}}}}}\n", culprit, step) : "";
    return fmt::format(
        "pdsim: 1\nname: generated\nsummary: A planted mistake.\nseed: 7\n"
        "world: {{ranks: {}, backend: {}, link: {{latency: 5us, bandwidth: 25GB/s}}}}\n"
        "model:\n  layers:\n    trunk: {{linear: [4, 8]}}\n{}    aux: {{linear: [8, 8]}}\n    head: {{linear: [8, "
        "1]}}\n"
        "  paths:\n    full: [trunk, {}aux, head]\n    short: [trunk, {}head]\n{}"
        "ddp: {{bucket_cap: {}, first_bucket: {}, find_unused_parameters: {}, broadcast_buffers: {}}}\n"
        "program:\n  - init_process_group\n  - train:\n      steps: {}\n{}{}  - barrier: {{}}\nexpect: {{outcome: "
        "ok}}\n",
        ranks, backend, norm, in_path, in_path, takes, cap, cap, finds, broadcasts, steps, body, evaluation);
  }

  Random random;
  std::string backend, cap;
  int ranks = 2, steps = 2, culprit = 0, step = 0;
  bool has_norm = false, skips = false, finds = false, broadcasts = true;
  std::string body, evaluation;
};

Report run(const LoadedFile& file) {
  std::string problem;
  Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? std::move(*report) : Report{};
}

class DdpConfusion : public testing::Test {
 protected:
  Report report_of(const RandomTraining& training) {
    file_ = load_text("generated.yaml", training.text());
    EXPECT_EQ(file_.errors, 0) << (file_.errors > 0 ? render(file_, file_.diagnostics.front()) : "") << training.text();
    return file_.errors == 0 ? run(file_) : Report{};
  }

  void expect_healthy(const RandomTraining& training) {
    const Report report = report_of(training);
    EXPECT_EQ(report.outcome, Outcome::ok) << training.text();
    EXPECT_FALSE(report.diagnosis()) << report.diagnosis()->headline << "\n" << training.text();
  }

  LoadedFile file_;  // reports point into it
};

constexpr std::uint64_t each = 25;

TEST_F(DdpConfusion, ASkippedLayerIsNamedWithItsRankStepAndParameters) {
  for (std::uint64_t seed = 0; seed < each; ++seed) {
    RandomTraining training(seed);
    training.skips = true;
    const Report report = report_of(training);
    ASSERT_TRUE(report.diagnosis()) << name_of(report.outcome) << "\n" << training.text();
    EXPECT_EQ(report.diagnosis()->id, "unused-parameters") << report.diagnosis()->headline << "\n" << training.text();
    EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{training.culprit});
    std::vector<std::string> parameters = report.diagnosis()->parameters;
    std::sort(parameters.begin(), parameters.end());
    EXPECT_EQ(parameters, (std::vector<std::string>{"aux.bias", "aux.weight"})) << training.text();
    EXPECT_NE(report.diagnosis()->cause.find(fmt::format("in step {}", training.step)), std::string::npos)
        << report.diagnosis()->cause;
    training.finds = true;
    expect_healthy(training);
  }
}

TEST_F(DdpConfusion, AnEvaluationThroughTheWrapperIsNamedAndThroughTheModuleHealthy) {
  for (std::uint64_t seed = 0; seed < each; ++seed) {
    RandomTraining training(100 + seed);
    training.has_norm = true;
    const auto through = [&](std::string_view what) {
      return fmt::format("  - eval: {{through: {}}}\n    when: {{rank: {}}}\n", what, training.culprit);
    };
    training.evaluation = through("ddp");
    const Report report = report_of(training);
    ASSERT_TRUE(report.diagnosis()) << name_of(report.outcome) << "\n" << training.text();
    EXPECT_EQ(report.diagnosis()->id, "collective-mismatch") << report.diagnosis()->headline << "\n" << training.text();
    EXPECT_EQ(report.diagnosis()->ranks, std::vector<Rank>{training.culprit});
    training.evaluation = through("module");
    expect_healthy(training);
  }
}

TEST_F(DdpConfusion, TwoForwardsBeforeABackwardAreNamedAndHealthyWithoutTheBroadcast) {
  for (std::uint64_t seed = 0; seed < each; ++seed) {
    RandomTraining training(200 + seed);
    training.has_norm = true;
    training.body =
        "      do:\n        - zero_grad\n        - forward: {input: real, output: a}\n"
        "        - forward: {input: fake, output: b}\n        - backward: {losses: [a, b]}\n        - optimizer_step\n";
    const Report report = report_of(training);
    ASSERT_TRUE(report.diagnosis()) << name_of(report.outcome) << "\n" << training.text();
    EXPECT_EQ(report.diagnosis()->id, "buffer-broadcast-inplace") << report.diagnosis()->headline;
    // A backend that ends the others at the first error may be faster than the slowest rank's own error.
    for (const RankError& error : report.errors)
      EXPECT_TRUE(error.code == Code::saved_tensor_modified || is_consequence(error.code)) << error.message;
    EXPECT_EQ(report.errors.size(), static_cast<std::size_t>(training.ranks));
    EXPECT_EQ(report.errors.front().step, 0);
    training.broadcasts = false;
    expect_healthy(training);
  }
}

TEST_F(DdpConfusion, HealthyTrainingsAreNeverDiagnosed) {
  for (std::uint64_t seed = 0; seed < 2 * each; ++seed) {
    RandomTraining training(300 + seed);
    training.finds = training.random.below(2) == 0;
    training.broadcasts = training.random.below(2) == 0;
    expect_healthy(training);
  }
}

}  // namespace
}  // namespace pdsim::scenarios
