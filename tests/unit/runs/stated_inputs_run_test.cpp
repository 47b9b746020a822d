// Collectives whose inputs a file states: what each rank holds afterwards can be expected, and is checked as any other result.
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"
#include "tests/unit/language/report_of.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

std::string document(const std::string& call, const std::string& values, const std::string& backend) {
  return fmt::format(
      "pdsim: 1\nname: mine\nsummary: one sentence\nworld: {{ranks: 4, backend: {}}}\nprogram:\n  - init_process_group\n"
      "  - {}\n    label: mine\nexpect: {{outcome: ok, values: [{}]}}\n",
      backend, call, values);
}

// "ok", what the loader says, or what did not hold.
std::string comes_to(const std::string& call, const std::string& values, const std::string& backend = "gloo") {
  const LoadedFile file = load_text("mine.yaml", document(call, values, backend));
  if (file.errors > 0) return report_of(file.text);
  std::string problem;
  const Result<Report> report = run_scenario(file.variants.front(), *world_named("sim", problem), {});
  if (!report.ok()) return report.error().message;
  if (report->failures.empty()) return "ok";
  return fmt::format("expected {}, got {}", report->failures.front().expected, report->failures.front().got);
}

TEST(StatedInputs, AreWhatEveryRankOfTheGroupPasses) {
  EXPECT_EQ(comes_to("all_reduce: {count: 2, input: ranks}", "{tensor: mine, holds: [60, 64]}"), "ok");
  EXPECT_EQ(comes_to("all_reduce: {count: 2, op: product, input: [[1, 2], [3, 0.5], [1, 1], [2, 2]]}",
                     "{tensor: mine, holds: [6, 2]}"),
            "ok");
  EXPECT_EQ(comes_to("all_reduce: {count: 1, dtype: i32, op: avg, input: [[1], [2], [2], [2]]}",
                     "{tensor: mine, holds: [1]}", "ideal"),
            "ok");
  EXPECT_EQ(comes_to("exscan: {count: 1, input: ranks}", "{tensor: mine, rank: 3, holds: [30]}"), "ok");
  EXPECT_EQ(comes_to("all_reduce: {count: 2, stride: 2, input: ranks}", "{tensor: mine, holds: [60, 64]}", "ideal"), "ok");
  EXPECT_EQ(comes_to("all_reduce: {count: 1, dtype: bf16, input: [[0.1], [0.1], [0.1], [0.1]]}",
                     "{tensor: mine, holds: [0.4], tolerance: 0.01}"),
            "ok");
}

TEST(StatedInputs, ThatComeToSomethingElseAreNamedWithTheirRank) {
  EXPECT_EQ(comes_to("all_reduce: {count: 2, input: ranks}", "{tensor: mine, holds: [60, 65]}"),
            "expected mine holds [60, 65], got rank 0 holds [60, 64]");
  EXPECT_EQ(comes_to("scatter: {count: 1, src: 1, input: ranks}", "{tensor: mine, rank: 2, holds: [11]}"),
            "expected mine of rank 2 holds [11], got rank 2 holds [12]");
  EXPECT_EQ(comes_to("reduce: {count: 1, dst: 1, input: ranks}", "{tensor: mine, rank: 0, holds: [60]}"),
            "expected mine of rank 0 holds [60], got rank 0 has no result of it");
}

TEST(StatedInputs, AreCheckedWhenTheFileIsLoaded) {
  EXPECT_EQ(comes_to("all_reduce: {count: 2, input: [[1, 2], [3], [4, 5], [6, 7]]}", "{tensor: mine, holds: [0]}"),
            R"(error[scenario]: 1 number for rank 1, which passes 2
  --> mine.yaml:7:44
  |
7 |   - all_reduce: {count: 2, input: [[1, 2], [3], [4, 5], [6, 7]]}
  |                                            ^^^ give one number for each element of its tensor
)");
  EXPECT_EQ(comes_to("broadcast: {src: 1, input: [[1], [3]]}", "{tensor: mine, holds: [0]}"),
            R"(error[scenario]: 2 lists in a world of 4 ranks
  --> mine.yaml:7:32
  |
7 |   - broadcast: {src: 1, input: [[1], [3]]}
  |                                ^^^^^^^^^^ give one list for each rank, [] for a rank that passes nothing
)");
  EXPECT_EQ(comes_to("all_reduce: {count: 2}", "{tensor: mine, holds: [0, 1]}"),
            R"(error[scenario]: `mine` is a call without a stated input
  --> mine.yaml:9:41
  |
9 | expect: {outcome: ok, values: [{tensor: mine, holds: [0, 1]}]}
  |                                         ^^^^ add `input: ranks` to it: element i of rank r is then 10 r + i
)");
  EXPECT_EQ(comes_to("all_reduce: {count: 2, input: rank}", "{tensor: loss, near: 0}").substr(0, 62),
            "error[scenario]: `rank` is not a list of numbers for each rank");
}

}  // namespace
}  // namespace pdsim::scenarios
