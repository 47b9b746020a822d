// Training alone with what the ranks had: rows that a forward inside no_sync takes count as elsewhere.
#include "scenarios/engine/loader.h"
#include "scenarios/engine/run_scenarios.h"
#include "scenarios/engine/worlds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

// A loss of 2 rows on rank 0 and of 6 on rank 1, twice for each optimizer step, the first time inside no_sync; each row counts
// 1 / 16 where `divided_by` is 16.
std::string checked(int divided_by) {
  const LoadedFile file =
      load_text("mine.yaml", fmt::format(R"(pdsim: 1
name: mine
summary: one sentence
world: {{ranks: 2, backend: gloo}}
model: {{layers: {{head: {{linear: [4, 1]}}}}}}
program:
  - init
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
  if (file.errors > 0) return render(file, file.diagnostics.front());
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return report.error().message;
  return report->failures.empty() ? "pass" : "fail";
}

TEST(OneBatch, HasTheRowsOfForwardsInsideNoSync) {
  EXPECT_EQ(checked(16), "pass");
  EXPECT_EQ(checked(8), "fail");
}

}  // namespace
}  // namespace pdsim::scenarios
