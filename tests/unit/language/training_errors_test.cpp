// Contexts, hooks, layers and checkpoints: what the loader makes of them, and each error with the text that the user sees.
#include "scenarios/language/scenario.h"
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

std::string instead_of_train(std::string_view program) { return report_of(with("  - train: {steps: 3}\n", program)); }
std::string instead_of_norm(std::string_view layer) { return report_of(with("norm: {batchnorm: 8}", layer)); }

Scenario scenario_of(const std::string& text) {
  const LoadedFile file = load_text("mine.yaml", text);
  EXPECT_EQ(file.errors, 0) << report_of(text);
  return file.errors == 0 ? file.variants.front() : Scenario{};
}

const nn::LayerSpec& norm_of(const Scenario& s) { return s.model.spec.layers.at(1); }

TEST(TrainingError, KeepsNoSyncInTrainAndJoinAroundIt) {
  EXPECT_EQ(instead_of_train("  - no_sync: {do: [forward, backward]}\n"),
            R"(error[scenario]: `no_sync` outside train
  --> mine.yaml:12:5
   |
12 |   - no_sync: {do: [forward, backward]}
   |     ^^^^^^^ put it in the `do` of train
)");
  EXPECT_EQ(instead_of_train("  - join: {do: [init_process_group]}\n"),
            R"(error[scenario]: `init_process_group` inside join
  --> mine.yaml:12:17
   |
12 |   - join: {do: [init_process_group]}
   |                 ^^^^^^^^^^^^^^^^^^ put it in the program itself, before or after join
)");
  EXPECT_NE(instead_of_train("  - train: {steps: 1, do: [{join: {do: [barrier]}}]}\n").find("`join` inside train"),
            std::string::npos);
  EXPECT_NE(instead_of_train("  - join: {do: [forward]}\n").find("`forward` outside train"), std::string::npos);
}

TEST(TrainingError, LooksForLossesThroughNoSync) {
  EXPECT_EQ(instead_of_train("  - train: {steps: 1, do: [{no_sync: {do: [forward]}}, backward]}\n"), "");
  EXPECT_EQ(instead_of_train("  - train: {steps: 1, do: [forward, {no_sync: {do: [backward]}}]}\n"), "");
  EXPECT_NE(instead_of_train("  - train: {steps: 1, do: [{no_sync: {do: [backward]}}, forward]}\n")
                .find("backward of `loss`, which no earlier forward outputs"),
            std::string::npos);
}

TEST(TrainingError, ExpectsUnevenStepsInsideJoinOnly) {
  const std::string uneven = "train: {steps: 2}\n    when: {rank: 0}\n";
  EXPECT_NE(instead_of_train("  - " + uneven).find("the gradients of `train`"), std::string::npos);
  EXPECT_EQ(instead_of_train("  - join: {do: [{train: {steps: 2}, when: {rank: 0}}]}\n"), "");
}

TEST(TrainingWarning, TellsThatCheckReductionDoesNothing) {
  EXPECT_EQ(report_of(with("program:\n", "ddp: {check_reduction: true}\nprogram:\n")),
            R"(warning[scenario]: `check_reduction` does nothing
  --> mine.yaml:10:7
   |
10 | ddp: {check_reduction: true}
   |       ^^^^^^^^^^^^^^^ it is deprecated in PyTorch; remove it
)");
}

TEST(TrainingError, KeepsEveryLayerInOnePartAndEveryPathInside) {
  const auto parts = [](const std::string& text) {
    return report_of(with("  paths: {full: [trunk, norm, head], short: [trunk, head]}\n", text));
  };
  const std::string paths = "  paths: {up: [trunk, norm], down: [head]}\n";
  EXPECT_EQ(parts(paths + "  parts: {encoder: [trunk, norm], decoder: [head]}\n"), "");
  EXPECT_EQ(parts(paths + "  parts: {encoder: [trunk, norm]}\n"), R"(error[scenario]: layer `head` is in 0 parts
  --> mine.yaml:10:3
   |
10 |   parts: {encoder: [trunk, norm]}
   |   ^^^^^ every layer of the model must be in exactly one
)");
  EXPECT_NE(parts(paths + "  parts: {encoder: [trunk], decoder: [norm, head]}\n").find("path `up` leaves its part"),
            std::string::npos);
  EXPECT_NE(parts("  paths: {up: [trunk, norm]}\n  parts: {encoder: [trunk, norm], decoder: [head]}\n")
                .find("no path goes through part `decoder`"),
            std::string::npos);
  EXPECT_NE(parts(paths + "  parts: {encoder: [trunk, norm], decoder: [head]}\n  branches: [{path: down}]\n")
                .find("`parts` beside"),
            std::string::npos);
}

TEST(TrainingError, WantsToKnowWhichOfSeveralModelsIsMeant) {
  const std::string one = "  paths: {full: [trunk, norm, head], short: [trunk, head]}\n";
  const std::string two =
      "  paths: {up: [trunk, norm], down: [head]}\n  parts: {encoder: [trunk, norm], decoder: [head]}\n";
  const std::string steps = "  - train: {steps: 3}\n";
  const auto report = [&](const std::string& model, const std::string& operation) {
    std::string text = with(one, model);
    return report_of(text.replace(text.find(steps), steps.size(), "  - " + operation + "\n"));
  };
  for (const char* in_a_part :
       {"checkpoint: {path: a, part: encoder}", "load_checkpoint: {path: a, part: decoder}",
        "train: {steps: 1, do: [{forward: {path: up}}, backward, {clip_grad_norm: {part: encoder}}]}",
        "requires_grad: {layers: [head, trunk], to: false}"})
    EXPECT_EQ(report(two, in_a_part), "") << in_a_part;
  EXPECT_EQ(report(two, "checkpoint: {path: a}"), R"(error[scenario]: `checkpoint` without a part
  --> mine.yaml:13:5
   |
13 |   - checkpoint: {path: a}
   |     ^^^^^^^^^^ with several models, name one: `part: encoder` or `part: decoder`
)");
  EXPECT_EQ(report(two, "checkpoint: {path: a, part: decoded}"),
            R"(error[scenario]: the model has no part `decoded`
  --> mine.yaml:13:33
   |
13 |   - checkpoint: {path: a, part: decoded}
   |                                 ^^^^^^^ did you mean `decoder`?
)");
  EXPECT_NE(report(one, "checkpoint: {path: a, part: trunk}").find("`part` of `checkpoint` in a file with one model"),
            std::string::npos);
  EXPECT_NE(report(two, "join: {do: [{train: {steps: 1}}]}").find("`join` beside `parts`"), std::string::npos);
}

TEST(TrainingWarning, TellsWhichRanksAloneConstructTheWrapper) {
  EXPECT_EQ(report_of(with("program:\n", "ddp: {ranks: 1}\nprogram:\n")),
            R"(warning[scenario]: only rank 1 constructs DDP
  --> mine.yaml:10:7
   |
10 | ddp: {ranks: 1}
   |       ^^^^^ every rank must construct it, or those that do wait for the others in its constructor
)");
  EXPECT_EQ(report_of(with("program:\n", "ddp: {ranks: 0..1}\nprogram:\n")), "");
  EXPECT_NE(report_of(with("program:\n", "ddp: {ranks: 2}\nprogram:\n")).find("error"), std::string::npos);
}

TEST(TrainingError, KnowsTheHooks) {
  EXPECT_NE(report_of(with("program:\n", "ddp: {comm_hook: fp8}\nprogram:\n")).find("unknown communication hook `fp8`"),
            std::string::npos);
  const auto hook = [](const std::string& text) {
    return scenario_of(with("program:\n", "ddp: {comm_hook: " + text + "}\nprogram:\n")).ddp.options.comm_hook;
  };
  EXPECT_EQ(hook("bf16_compress").kind, CommHookSpec::Kind::bf16_compress);
  EXPECT_EQ(hook("powersgd").start_iter, 1000);
  const CommHookSpec spec = hook("{powersgd: {start_iter: 5, matrix_approximation_rank: 3, warm_start: false}}");
  EXPECT_EQ(spec.kind, CommHookSpec::Kind::powersgd);
  EXPECT_EQ(spec.start_iter, 5);
  EXPECT_EQ(spec.matrix_approximation_rank, 3);
  EXPECT_FALSE(spec.warm_start);
}

TEST(TrainingError, WantsImagesThatFilterAndWidthsFit) {
  EXPECT_NE(instead_of_norm("norm: {conv2d: {channels: 2, height: 2, width: 2, filters: 1, kernel: 3}}")
                .find("a kernel of 3 does not fit into 2 x 2 with padding 0"),
            std::string::npos);
  EXPECT_NE(instead_of_norm("norm: {conv2d: {channels: 9, height: 900, width: 900, filters: 1, kernel: 1}}")
                .find("`norm` is 7290000 columns wide"),
            std::string::npos);
  EXPECT_NE(instead_of_norm("norm: {conv2d: {channels: 2}}").find("`height` is missing in conv2d"), std::string::npos);
  EXPECT_NE(instead_of_norm("norm: {layernorm: 7}").find("`norm` takes 7 features, but `trunk` gives 8"),
            std::string::npos);
  EXPECT_NE(instead_of_norm("norm: {dropout: 1.5}").find("out of range"), std::string::npos);
  EXPECT_NE(instead_of_norm("norm: {embedding: {rows: 4, columns: 8, indices: 8}}").find("is not first in path"),
            std::string::npos);
}

TEST(Training, KnowsTheSizesOfEveryKindOfLayer) {
  const auto norm = [](std::string_view text) { return norm_of(scenario_of(with("norm: {batchnorm: 8}", text))); };
  const nn::LayerSpec conv =
      norm("norm: {conv2d: {channels: 2, height: 2, width: 2, filters: 2, kernel: 3, padding: 1}, dtype: f64}");
  EXPECT_EQ(conv.in, 8);
  EXPECT_EQ(conv.out, 8);
  EXPECT_EQ(conv.dtype, DType::f64);
  EXPECT_EQ(norm("norm: {batchnorm2d: {channels: 2, height: 2, width: 2}}").kind, nn::LayerKind::batchnorm2d);
  EXPECT_EQ(norm("norm: {sync_batchnorm: 8}").kind, nn::LayerKind::sync_batchnorm);
  EXPECT_TRUE(norm("norm: {batchnorm: 8, frozen: true}").frozen);
  EXPECT_FALSE(conv.frozen);
  EXPECT_DOUBLE_EQ(norm("norm: {dropout: 0.25}").probability, 0.25);
}

TEST(TrainingError, NamesUnknownLayersToRecompute) {
  EXPECT_NE(report_of(with("  paths:", "  recompute: [trunc]\n  paths:")).find("did you mean `trunk`?"),
            std::string::npos);
}

TEST(Training, TakesAnOptimizerByItsNameAlone) {
  EXPECT_EQ(scenario_of(with("program:\n", "optimizer: adam\nprogram:\n")).optimizer.kind,
            nn::OptimizerSpec::Kind::adam);
}

TEST(Training, TellsContextsInTheTable) {
  const LoadedFile file = load_text("mine.yaml", with("  - train: {steps: 3}\n", R"(  - join:
      do:
        - train: {steps: 2, do: [{no_sync: {do: [forward]}}, backward]}
          when: {rank: 1}
)"));
  ASSERT_EQ(file.errors, 0);
  EXPECT_NE(program_table(file.variants.front()).find("0..1  join no_sync forward  rank 1\n"), std::string::npos)
      << program_table(file.variants.front());
}

}  // namespace
}  // namespace pdsim::scenarios
