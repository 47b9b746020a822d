// Operations of one of several models leave the others as they are.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace pdsim::scenarios {
namespace {

// What rank 1 ends with, after `program`.
TensorValues values_after(const std::string& program) {
  const LoadedFile file = load_text("mine.yaml", fmt::format(R"(pdsim: 1
name: mine
summary: one sentence
world: {{ranks: 2, backend: gloo}}
model:
  layers: {{make: {{linear: [4, 8]}}, look: {{linear: [4, 8]}}}}
  paths: {{a: [make], b: [look]}}
  parts: {{generator: [make], critic: [look]}}
program:
{}
expect:
  outcome: ok
  values:
    - {{tensor: make.weight, across_ranks: equal}}
    - {{tensor: look.weight, across_ranks: equal}}
    - {{tensor: make.weight.grad, across_ranks: equal}}
    - {{tensor: look.weight.grad, across_ranks: equal}}
    - {{tensor: grad_norm, across_ranks: equal}}
)",
                                                             program));
  EXPECT_EQ(file.errors, 0) << (file.diagnostics.empty() ? "" : render(file, file.diagnostics.front()));
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  EXPECT_TRUE(report.ok());
  return report->run.ranks.at(1).values;
}

const std::string both_backwards =
    R"(        - zero_grad
        - forward: {path: a, output: made}
        - forward: {path: b, output: seen}
        - backward: {losses: [made]}
        - backward: {losses: [seen]}
)";
std::string one_step_of(const std::string& operations) {
  return "  - train:\n      steps: 1\n      do:\n" + operations;
}

double norm(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

TEST(Parts, AreClippedOneByOne) {
  const std::string clip = "        - clip_grad_norm: {part: critic, max_norm: 0.001}\n";
  TensorValues plain = values_after("  - init_process_group\n" + one_step_of(both_backwards));
  TensorValues clipped = values_after("  - init_process_group\n" + one_step_of(both_backwards + clip));
  EXPECT_EQ(clipped["make.weight.grad"], plain["make.weight.grad"]);
  EXPECT_LE(norm(clipped["look.weight.grad"]), 0.001);
  EXPECT_GT(norm(plain["look.weight.grad"]), 0.01);
  EXPECT_GE(clipped.at("grad_norm").at(0), norm(plain["look.weight.grad"]));
}

TEST(Parts, AreFrozenWhereTheirLayersAre) {
  TensorValues before = values_after("  - init_process_group\n");
  TensorValues after = values_after("  - init_process_group\n" +
                                    one_step_of(both_backwards + R"(        - requires_grad: {layers: [look], to: false}
        - zero_grad
        - forward: {path: a, output: made}
        - backward: {losses: [made]}
        - optimizer_step
)"));
  EXPECT_NE(after["make.weight"], before["make.weight"]);
  EXPECT_EQ(after["look.weight"], before["look.weight"]);
}

TEST(Parts, HaveCheckpointsOfTheirOwn) {
  const std::string step = one_step_of(both_backwards + "        - optimizer_step\n");
  TensorValues once = values_after("  - init_process_group\n" + step);
  TensorValues back = values_after("  - init_process_group\n" + step + R"(  - checkpoint: {path: made, part: generator}
    when: {rank: 0}
  - barrier
)" + step + "  - load_checkpoint: {path: made, part: generator}\n");
  EXPECT_EQ(back["make.weight"], once["make.weight"]);
  EXPECT_NE(back["look.weight"], once["look.weight"]);
}

}  // namespace
}  // namespace pdsim::scenarios
