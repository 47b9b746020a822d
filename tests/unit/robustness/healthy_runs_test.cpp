// Random healthy runs get no diagnosis at all. PDSIM_CASES in the environment asks for more of them than the usual number.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/unit/robustness/healthy_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace pdsim::scenarios {
namespace {

constexpr int parts = 4;  // tests, so that none of them takes long

int cases() {
  const char* asked = std::getenv("PDSIM_CASES");
  return asked != nullptr ? std::atoi(asked) : 200;
}

class HealthyRuns : public testing::TestWithParam<int> {};

TEST_P(HealthyRuns, GetNoDiagnosis) {
  std::string problem;
  const WorldRow& sim = *world_named("sim", problem);
  std::map<std::string, int> ends;
  for (int i = GetParam(); i < cases(); i += parts) {
    const std::string text = healthy_program(static_cast<std::uint64_t>(i));
    const LoadedFile file = load_text("healthy.yaml", text);
    ASSERT_EQ(file.errors, 0) << render(file, file.diagnostics.front()) << text;
    const Result<Report> report = run_scenario(file.variants.front(), sim, {});
    ASSERT_TRUE(report.ok()) << report.error().message << "\n" << text;
    ++ends[report->diagnosis() ? report->diagnosis()->id : std::string(name_of(report->outcome))];
    EXPECT_EQ(report->outcome, Outcome::ok)
        << "seed " << i << ": " << (report->errors.empty() ? "" : report->errors.front().message) << "\n"
        << text;
    EXPECT_FALSE(report->diagnosis() != nullptr)
        << "seed " << i << ": " << report->diagnosis()->id << ", " << report->diagnosis()->headline << "\n"
        << text;
    if (HasFailure()) return;
  }
  for (const auto& [end, count] : ends) std::cout << fmt::format("{} healthy runs: {}\n", count, end);
}

INSTANTIATE_TEST_SUITE_P(Part, HealthyRuns, testing::Range(0, parts));

}  // namespace
}  // namespace pdsim::scenarios
