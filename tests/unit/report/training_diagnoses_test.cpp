// Mistakes around DDP that every rank sees at once, planted in generated trainings: the diagnosis names the parameter, and with
// the cure there is none.
#include "core/base/random.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"
#include "tests/unit/report/run_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

Report run(const std::string& text) {
  const LoadedFile file = load_text("generated.yaml", text);
  EXPECT_EQ(file.errors, 0) << text;
  if (file.errors != 0) return {};
  std::string problem;
  Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok()) << report.error().message;
  return report.ok() ? std::move(*report) : Report{};
}

struct World {
  explicit World(std::uint64_t seed) : random(seed) {
    constexpr const char* backends[] = {"gloo", "nccl", "ideal"};
    constexpr const char* names[] = {"block", "layer4", "encoder"};
    backend = backends[random.below(3)];
    layer = names[random.below(3)];
    ranks = 2 + static_cast<int>(random.below(4));
    width = 2 + static_cast<int>(random.below(6));
    steps = 1 + static_cast<int>(random.below(4));
    straggler = random.below(2) == 0 ? fmt::format("  speeds: [{{rank: {}, work: 3}}]\n", ranks - 1) : "";
  }
  std::string with(const std::string& model, const std::string& ddp, const std::string& program) const {
    return fmt::format(
        "pdsim: 1\nname: generated\nsummary: A planted mistake.\nworld:\n  ranks: {}\n  backend: {}\n{}"
        "model:\n  layers: {{in: {{linear: [3, {}]}}, {}: {{linear: [{}, {}]}}}}\n  paths: {{full: [in, {}, {}]}}\n{}{}"
        "program:\n  - init_process_group\n  - train: {{steps: {}}}\n{}expect: {{outcome: ok}}\n",
        ranks, backend, straggler, width, layer, width, width, layer, layer, model, ddp, steps, program);
  }
  Random random;
  std::string backend, layer, straggler;
  int ranks = 2, width = 2, steps = 1;
};

TEST(TrainingDiagnoses, NameTheGradientThatCameTwice) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const World w(seed);
    const std::string recompute = fmt::format("  recompute: [{}]\n", w.layer);
    const std::string finds = seed % 2 == 0 ? "ddp: {find_unused_parameters: true}\n" : "";
    const Report twice = run(w.with(recompute, finds, ""));
    ASSERT_EQ(id_of(twice), "marked-ready-twice") << seed;
    EXPECT_EQ(twice.diagnosis()->ranks.size(), static_cast<std::size_t>(w.ranks));
    EXPECT_TRUE(twice.diagnosis()->parameters.front().starts_with(w.layer + "."))
        << twice.diagnosis()->parameters.front();
    EXPECT_NE(twice.diagnosis()->cause.find("once for each use in forward"), std::string::npos);
    EXPECT_EQ(id_of(run(w.with(recompute, "ddp: {static_graph: true}\n", ""))), "none") << seed;
    EXPECT_EQ(id_of(run(w.with("", finds, ""))), "none") << seed;
  }
}

TEST(TrainingDiagnoses, TellOnWhichSideTheModulePrefixIs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const World w(seed);
    const auto loaded = [&w](const char* of, const char* into) {
      return run(w.with("", "",
                        fmt::format("  - checkpoint: {{path: run/m, of: {}}}\n    when: {{rank: 0}}\n  - barrier\n"
                                    "  - load_checkpoint: {{path: run/m, into: {}}}\n",
                                    of, into)));
    };
    const Report wrapper = loaded("ddp", "module");
    ASSERT_EQ(id_of(wrapper), "checkpoint-keys") << seed;
    EXPECT_NE(wrapper.diagnosis()->headline.find("saved from DDP's wrapper"), std::string::npos);
    EXPECT_EQ(wrapper.diagnosis()->ranks.size(), static_cast<std::size_t>(w.ranks));
    const Report module = loaded("module", "ddp");
    ASSERT_EQ(id_of(module), "checkpoint-keys") << seed;
    EXPECT_NE(module.diagnosis()->headline.find("saved from the module itself"), std::string::npos);
    EXPECT_EQ(id_of(loaded("ddp", "ddp")), "none");
    EXPECT_EQ(id_of(loaded("module", "module")), "none");
  }
}

// Micro-batches of one line of the program, `window` to a step, the last step with as many as are left.
std::string accumulating(const World& w, int window, int micro_batches, const std::string& divided) {
  std::string steps;
  for (int i = 0; i < micro_batches; ++i)
    if (i % window == window - 1 || i + 1 == micro_batches) steps += (steps.empty() ? "" : ", ") + std::to_string(i);
  std::string begins;
  for (int i = 0; i < micro_batches; i += window) begins += (begins.empty() ? "" : ", ") + std::to_string(i);
  return w.with(
      "", "",
      fmt::format("  - train:\n      steps: {}\n      do:\n        - zero_grad:\n          when: {{step: [{}]}}\n"
                  "        - forward\n        - backward: {{divided_by: {}}}\n        - optimizer_step:\n"
                  "          when: {{step: [{}]}}\n",
                  micro_batches, begins, divided, steps));
}

TEST(TrainingDiagnoses, TellHowManyTimesTooLargeAnAccumulatedStepIs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const World w(seed);
    const int window = 2 + static_cast<int>(seed % 4);
    const Report undivided = run(accumulating(w, window, 2 * window, "1"));
    ASSERT_EQ(id_of(undivided), "accumulation-not-divided") << seed;
    EXPECT_EQ(undivided.diagnosis()->ranks.size(), static_cast<std::size_t>(w.ranks));
    EXPECT_NE(undivided.diagnosis()->headline.find(fmt::format("the update is {} times", window)), std::string::npos)
        << undivided.diagnosis()->headline;
    EXPECT_EQ(id_of(run(accumulating(w, window, 2 * window, std::to_string(window)))), "none") << seed;
    const char* two_losses =
        "  - train: {steps: 2, do: [zero_grad, {forward: {input: real}}, backward, {forward: {input: fake}}, backward, "
        "optimizer_step]}\n";
    EXPECT_EQ(id_of(run(w.with("", "", two_losses))), "none") << "no accumulation: each backward has a loss of its own";
    const Report short_window = run(accumulating(w, window, 2 * window + 1, std::to_string(window)));
    ASSERT_EQ(id_of(short_window), "accumulation-not-divided") << seed;
    EXPECT_NE(short_window.diagnosis()->cause.find("has 1 batch"), std::string::npos)
        << short_window.diagnosis()->cause;
  }
}

TEST(TrainingDiagnoses, NameTheRanksThatDidNotConstructTheWrapper) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const World w(seed);
    const int without = static_cast<int>(seed) % w.ranks;
    const Report partly = run(w.with("", fmt::format("ddp: {{ranks: not {}}}\n", without), "  - barrier\n"));
    ASSERT_EQ(id_of(partly), "ddp-on-some-ranks") << seed;
    EXPECT_EQ(partly.diagnosis()->ranks, std::vector<Rank>{without}) << seed;
    EXPECT_EQ(id_of(run(w.with("", "ddp: {ranks: all}\n", "  - barrier\n"))), "none") << seed;
  }
}

TEST(TrainingDiagnoses, NameTheRankThatWorksOnTwoModelsInAnotherOrder) {
  const auto text = [](int other, int width) {
    return fmt::format(
        "pdsim: 1\nname: generated\nsummary: A planted mistake.\nworld: {{ranks: 3}}\nmodel:\n"
        "  layers: {{make: {{linear: [4, 8]}}, look: {{linear: [{1}, 8]}}}}\n  paths: {{a: [make], b: [look]}}\n"
        "  parts: {{generator: [make], critic: [look]}}\nprogram:\n  - init_process_group\n  - train:\n      steps: "
        "1\n      do:\n"
        "        - forward: {{path: a, output: made}}\n        - forward: {{path: b, output: seen}}\n"
        "        - backward: {{losses: [seen]}}\n          when: {{rank: {0}}}\n        - backward: {{losses: "
        "[made]}}\n"
        "        - backward: {{losses: [seen]}}\n          when: {{rank: not {0}}}\n"
        "expect: {{outcome: ok}}\n",
        other, width);
  };
  for (int other = 0; other < 3; ++other) {
    const Report silent = run(text(other, 4)), loud = run(text(other, 5));
    ASSERT_EQ(id_of(silent), "models-in-two-orders");
    EXPECT_EQ(silent.diagnosis()->ranks, std::vector<Rank>{other});
    EXPECT_EQ(silent.outcome, Outcome::ok);
    ASSERT_EQ(id_of(loud), "models-in-two-orders");
    EXPECT_EQ(loud.diagnosis()->ranks, std::vector<Rank>{other});
    EXPECT_NE(loud.outcome, Outcome::ok);
  }
}

// Two ranks of a sharded model, of which rank 0 finishes its program while rank 1 goes on.
Diagnosis after_the_others_ended(const std::string& program) {
  const Report report = run(
      "pdsim: 1\nname: generated\nsummary: A planted mistake.\nworld: {ranks: 2, backend: gloo}\nmodel:\n"
      "  layers: {embed: {linear: [4, 8]}, first: {linear: [8, 8]}, head: {linear: [8, 1]}}\n"
      "  paths: {usual: [embed, first, head]}\nfully_shard:\n  units: {block: [first]}\n"
      "program:\n  - init_process_group\n" +
      program + "expect: {outcome: ok}\n");
  EXPECT_EQ(id_of(report), "missing-call");
  return report.diagnosis() != nullptr ? *report.diagnosis() : Diagnosis{};
}

TEST(TrainingDiagnoses, NameTheUnitThatRanksGatherAfterTheOthersHaveEnded) {
  const Diagnosis tokens = after_the_others_ended(
      "  - eval: {steps: 3}\n    label: a\n    when: {rank: 0}\n  - eval: {steps: 5}\n    label: b\n    when: {rank: 1}\n");
  EXPECT_EQ(tokens.ranks, std::vector<Rank>{1});
  EXPECT_NE(tokens.headline.find("rank 1 gathers unit "), std::string::npos) << tokens.headline;
  EXPECT_NE(tokens.headline.find("where rank 0 had finished its program"), std::string::npos) << tokens.headline;
  EXPECT_NE(tokens.fix.text.find("synced_gpus=True"), std::string::npos) << tokens.fix.text;
  EXPECT_FALSE(tokens.cures.empty());

  const Diagnosis state = after_the_others_ended(
      "  - train: {steps: 1}\n  - checkpoint: {path: run/model.pt}\n    when: {rank: 1}\n");
  EXPECT_EQ(state.ranks, std::vector<Rank>{1});
  EXPECT_NE(state.headline.find("for the full state, where rank 0 had finished its program"), std::string::npos)
      << state.headline;

  const Diagnosis steps = after_the_others_ended(
      "  - train: {steps: 2}\n  - train: {steps: 1}\n    label: more\n    when: {rank: 1}\n");
  EXPECT_NE(steps.headline.find("rank 1 gathers unit "), std::string::npos) << steps.headline;
  EXPECT_NE(steps.fix.text.find("join() does not take sharded models"), std::string::npos) << steps.fix.text;
}

}  // namespace
}  // namespace pdsim::scenarios
