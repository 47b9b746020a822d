// Training alone with what the ranks had: rows that a forward inside no_sync takes count as elsewhere.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

std::string verdict_of(const std::string& text) {
  const LoadedFile file = load_text("mine.yaml", text);
  if (file.errors > 0) return render(file, file.diagnostics.front());
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return report.error().message;
  return report->failures.empty() ? "pass" : "fail";
}

// A loss of 2 rows on rank 0 and of 6 on rank 1, twice for each optimizer step, the first time inside no_sync; each row counts
// 1 / 16 where `divided_by` is 16.
std::string checked(int divided_by) {
  return verdict_of(fmt::format(R"(pdsim: 1
name: mine
summary: one sentence
world: {{ranks: 2, backend: gloo}}
model: {{layers: {{head: {{linear: [4, 1]}}}}}}
program:
  - init_process_group
  - train:
      steps: 2
      do:
        - zero_grad
        - no_sync:
            do:
              - {{forward: {{rows: 2, input: first}}, when: {{rank: 0}}}}
              - {{forward: {{rows: 6, input: first}}, when: {{rank: 1}}}}
              - {{backward: {{times: 4, divided_by: {0}}}, when: {{rank: 0}}}}
              - {{backward: {{times: 12, divided_by: {0}}}, when: {{rank: 1}}}}
        - {{forward: {{rows: 2, input: second}}, when: {{rank: 0}}}}
        - {{forward: {{rows: 6, input: second}}, when: {{rank: 1}}}}
        - {{backward: {{times: 4, divided_by: {0}}}, when: {{rank: 0}}}}
        - {{backward: {{times: 12, divided_by: {0}}}, when: {{rank: 1}}}}
        - optimizer_step
expect: {{outcome: ok, values: [{{tensor: head.weight, equals: one_batch, tolerance: 0.00001}}]}}
)",
                                divided_by));
}

TEST(OneBatch, HasTheRowsOfForwardsInsideNoSync) {
  EXPECT_EQ(checked(16), "pass");
  EXPECT_EQ(checked(8), "fail");
}

constexpr const char* body_and_head = R"(pdsim: 1
name: mine
summary: one sentence
world: {ranks: 2, backend: gloo}
model: {layers: {body: {linear: [4, 4]}, head: {linear: [4, 1]}}}
)";

TEST(SingleProcess, FreezesLayersAsTheProgramDoes) {
  std::string one_rank = body_and_head;
  one_rank.replace(one_rank.find("ranks: 2"), 8, "ranks: 1");
  EXPECT_EQ(verdict_of(one_rank + R"(ddp: none
program:
  - train: {steps: 1}
  - requires_grad: {layers: [body], to: false}
  - train: {steps: 2}
expect: {outcome: ok, values: [{tensor: body.weight, equals: single_process, tolerance: 0.00001},
                               {tensor: head.weight, equals: single_process, tolerance: 0.00001}]}
)"),
            "pass");
}

TEST(SingleProcess, LoadsTheCheckpointThatTheProgramLoads) {
  EXPECT_EQ(verdict_of(body_and_head + std::string(R"(program:
  - init_process_group
  - train: {steps: 1}
  - checkpoint: {path: run/model}
    when: {rank: 0}
  - train: {steps: 2}
  - load_checkpoint: {path: run/model}
  - train: {steps: 1}
expect: {outcome: ok, values: [{tensor: head.weight, equals: single_process, tolerance: 0.00001}]}
)")),
            "pass");
}

}  // namespace
}  // namespace pdsim::scenarios
