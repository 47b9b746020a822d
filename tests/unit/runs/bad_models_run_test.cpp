// Models, batches and checkpoints that are empty, frozen, infinite, cut short or another's: PyTorch's behaviour where it has one,
// else one error on the rank concerned.
#include "scenarios/language/loader.h"
#include "scenarios/records/log_view.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr const char* linear = "model: {layers: {head: {linear: [4, 1]}}}\n";

struct Ran {
  std::unique_ptr<LoadedFile> file;  // which the report looks into
  Report report;
};

Ran run(const std::string& text, const std::string& expect = "{outcome: ok}") {
  Ran ran{std::make_unique<LoadedFile>(load_text(
              "mine.yaml",
              fmt::format(
                  "pdsim: 1\nname: mine\nsummary: one sentence\nworld: {{ranks: 2, link: {{latency: 5us, bandwidth: "
                  "25GB/s}}, backend: gloo, timeout: 1s}}\n{}expect: {}\n",
                  text, expect))),
          {}};
  EXPECT_EQ(ran.file->errors, 0) << render(*ran.file, ran.file->diagnostics.front());
  if (ran.file->errors > 0) return ran;
  std::string problem;
  Result<Report> report = run_scenario(ran.file->variants.front(), *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok());
  if (report.ok()) ran.report = std::move(report).value();
  return ran;
}

// "rank 1, ddp-not-needed; rank 0, peer-closed"
std::string errors_of(const Report& report) {
  std::string text;
  for (const RankError& e : report.errors)
    text += fmt::format("{}rank {}, {}", text.empty() ? "" : "; ", e.rank, name_of(e.code));
  return text;
}

std::string warnings_of(const Report& report, Rank rank) {
  std::string text;
  for (const Note* note : notes_of<notes::Warning>(log_of(report.run, rank)))
    text += text_of(note->as<notes::Warning>()) + "\n";
  return text;
}

TEST(BadModel, WithoutParametersIsRefusedByTheWrapper) {
  const auto [file, report] =
      run("model: {layers: {head: {linear: [4, 1], frozen: true}, act: {relu: null}}}\nprogram: [init_process_group, "
          "{train: {steps: "
          "1}}]\n");
  EXPECT_EQ(errors_of(report), "rank 0, ddp-not-needed; rank 1, ddp-not-needed");
  ASSERT_TRUE(report.diagnosis() != nullptr);
  EXPECT_EQ(report.diagnosis()->id, "nothing-to-train");
}

TEST(BadModel, FrozenOnOneRankRaisesThereAlone) {
  const auto [file, report] = run(
      "model: {layers: {head: {linear: [4, 1]}}, per_rank: [{when: {rank: 1}, layers: {head: {linear: [4, 1], frozen: "
      "true}}}]}\nprogram: [init_process_group, {train: {steps: 1}}]\n");
  EXPECT_EQ(errors_of(report), "rank 1, ddp-not-needed; rank 0, peer-closed");
}

TEST(BadModel, WithParametersOfNoSizeTrains) {
  const auto [file, report] =
      run("model: {layers: {head: {linear: [4, 1]}, none: {meta: [[0], [0, 5]]}}}\nprogram: [init_process_group, "
          "{train: {steps: 3}}]\n",
          "{outcome: ok, diagnosis: none, values: [{tensor: head.weight, across_ranks: equal}]}");
  EXPECT_EQ(report.verdict, Verdict::pass) << errors_of(report);
}

TEST(BadLoss, ThatIsNotANumberReachesEveryRankThroughTheGradients) {
  const auto [file, report] =
      run(std::string(linear) +
              "loss: cross_entropy\nprogram: [init_process_group, {train: {steps: 2, do: [zero_grad, {forward: "
              "{rows: 0}}, backward]}}]\n",
          "{outcome: ok, values: [{tensor: loss, rank: 0, near: 0}]}");
  ASSERT_EQ(errors_of(report), "");
  const auto& loss = report.run.ranks.front().values.at("loss");
  EXPECT_TRUE(std::isnan(loss.front()));
}

TEST(BadLoss, WithErrorIfNonfiniteClippingRaisesOnEveryRank) {
  const auto [file, report] =
      run(std::string(linear) +
          "optimizer: {sgd: {lr: 100000000}}\nprogram: [init_process_group, {train: {steps: 12}}, {train: {steps: "
          "1, do: [zero_grad, forward, backward, {clip_grad_norm: {error_if_nonfinite: true}}]}}]\n");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_EQ(report.errors.size(), 2U);
  EXPECT_NE(report.errors.front().message.find("cannot be clipped"), std::string::npos)
      << report.errors.front().message;
  EXPECT_EQ(report.errors.front().step, report.errors.back().step);
}

constexpr const char* empty_on_rank_1 =
    "program: [init_process_group, {train: {steps: 2, do: [zero_grad, {forward: {rows: 0}, when: {rank: 1}}, {forward: "
    "{}, when: "
    "{rank: "
    "0}}, backward, optimizer_step]}}]\n";

TEST(EmptyBatch, HasNoGradientsToShareAndHalvesThoseOfTheOther) {
  const auto [file, report] =
      run(std::string(linear) + empty_on_rank_1,
          "{outcome: ok, diagnosis: none, values: [{tensor: head.weight, across_ranks: equal}]}");
  EXPECT_EQ(report.verdict, Verdict::pass) << errors_of(report);
}

TEST(EmptyBatch, IsRefusedByBatchNormOnThatRankAlone) {
  const auto [file, report] =
      run(std::string("model: {layers: {norm: {batchnorm: 4}, head: {linear: [4, 1]}}}\n") + empty_on_rank_1);
  EXPECT_EQ(errors_of(report), "rank 1, shape-mismatch; rank 0, peer-closed");
}

TEST(EmptyEpoch, IsAnErrorAndNoTrainingOnNothing) {
  const auto [file, report] =
      run(std::string(linear) +
          "data: {samples: 1, drop_last: true}\nprogram: [init_process_group, {train: {steps: 1}}]\n");
  EXPECT_EQ(errors_of(report), "rank 0, invalid-argument; rank 1, invalid-argument");
  ASSERT_FALSE(report.errors.empty());
  EXPECT_NE(report.errors.front().message.find("an epoch has no step"), std::string::npos);
}

TEST(BadCheckpoint, CutShortIsCorruptAndChangesNothing) {
  const auto [file, report] =
      run(std::string(linear) +
              "program: [init_process_group, {checkpoint: {path: m, takes: 1s}, when: {rank: 0}}, {compute: {time: "
              "500ms}, when: "
              "{rank: 1}}, "
              "{load_checkpoint: {path: m}, when: {rank: 1}}]\n",
          "{outcome: error, rank: 1, error: checkpoint-corrupt, values: [{tensor: head.weight, across_ranks: equal}]}");
  EXPECT_EQ(report.verdict, Verdict::pass) << errors_of(report);
}

TEST(BadCheckpoint, ThatIsNoneIsCorrupt) {
  const auto [file, report] =
      run(std::string(linear) +
          "program: [{init_process_group: {method: file, path: m}}, barrier, {load_checkpoint: {path: m}}]\n");
  EXPECT_EQ(errors_of(report), "rank 0, checkpoint-corrupt; rank 1, checkpoint-corrupt");
}

TEST(BadCheckpoint, OfAnotherModelNamesWhatDiffersOnTheRankThatLoadsIt) {
  const auto [file, report] =
      run("model: {layers: {head: {linear: [4, 1]}}, per_rank: [{when: {rank: 1}, layers: {head: {linear: [8, 1]}}}]}\n"
          "ddp: none\nprogram: [init_process_group, {checkpoint: {path: m}, when: {rank: 1}}, barrier, "
          "{load_checkpoint: {path: m}}]\n");
  EXPECT_EQ(errors_of(report), "rank 0, state-dict-mismatch");
}

TEST(BadCheckpoint, ThatIsNotThereSaysSo) {
  const auto [file, report] =
      run(std::string(linear) + "program: [init_process_group, {load_checkpoint: {path: nowhere}}]\n");
  EXPECT_EQ(errors_of(report), "rank 0, io-error; rank 1, io-error");
}

TEST(DdpWarnings, TellOnceThatNothingWasUnused) {
  const auto [file, report] = run(
      std::string(linear) + "ddp: {find_unused_parameters: true}\nprogram: [init_process_group, {train: {steps: 3}}]\n",
      "{outcome: ok, warning: this forward used every parameter}");
  EXPECT_EQ(report.verdict, Verdict::pass);
  EXPECT_EQ(notes_of<notes::Warning>(log_of(report.run, 0)).size(), 1U);
  EXPECT_NE(warnings_of(report, 1).find("find_unused_parameters is on"), std::string::npos);
}

TEST(DdpWarnings, AreSilentWhereSomethingIsUnused) {
  const auto [file, report] =
      run("model: {layers: {aux: {linear: [4, 4]}, head: {linear: [4, 1]}}, paths: {short: [head]}}\nddp: "
          "{find_unused_parameters: true}\nprogram: [init_process_group, {train: {steps: 3}}]\n");
  EXPECT_EQ(warnings_of(report, 0), "");
}

TEST(DdpWarnings, ThatAreExpectedAndDoNotComeAreAFailure) {
  const auto [file, report] = run(std::string(linear) + "program: [init_process_group, {train: {steps: 1}}]\n",
                                  "{outcome: ok, warning: deprecated}");
  EXPECT_EQ(report.verdict, Verdict::fail);
  const auto [other, told] =
      run(std::string(linear) + "ddp: {check_reduction: true}\nprogram: [init_process_group, {train: {steps: 1}}]\n",
          "{outcome: ok, warning: check_reduction is deprecated}");
  EXPECT_EQ(told.verdict, Verdict::pass);
}

}  // namespace
}  // namespace pdsim::scenarios
