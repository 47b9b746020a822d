// The diagnosis must not depend on the file: every broken variant of the catalog runs again with another seed, other layer
// names, other sizes, one rank more, a straggler among the innocent, and other links.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "tests/helpers/catalog_files.h"
#include "tests/unit/robustness/changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace pdsim::scenarios {
namespace {

std::vector<std::string> catalog() {
  std::vector<std::string> names;
  for (const std::filesystem::path& file : catalog_files()) names.push_back(file.stem().string());
  return names;
}

struct Found {
  std::string diagnosis = "none", headline;
  std::vector<Rank> culprits;
};

Found verdict_of(const Scenario& scenario) {
  std::string problem;
  const Result<Report> report = run_scenario(scenario, *world_named("sim", problem), {});
  if (!report.ok()) return {report.error().message, "", {}};
  if (!report->diagnosis()) return {};
  return {report->diagnosis()->id, report->diagnosis()->headline, report->diagnosis()->ranks};
}

// Between two ranks nobody can tell who is wrong, and both are named; a third can.
bool names_the_same(const std::vector<Rank>& got, const std::vector<Rank>& expected, bool was_a_tie) {
  if (got == expected) return true;
  return was_a_tie && !got.empty() && std::includes(expected.begin(), expected.end(), got.begin(), got.end());
}

class SameDiagnosis : public testing::TestWithParam<std::string> {
 public:
  static void TearDownTestSuite() {
    for (const auto& [change, count] : counts())
      std::cout << fmt::format("{:<26} {} of {} variants with the same diagnosis and culprits\n", change, count.same,
                               count.all);
  }

 protected:
  struct Count {
    int same = 0, all = 0;
  };
  static std::map<std::string_view, Count>& counts() {
    static std::map<std::string_view, Count> all;
    return all;
  }
};

TEST_P(SameDiagnosis, UnderHarmlessChanges) {
  const Result<LoadedFile> file = load_file(fmt::format("{}/scenarios/catalog/{}.yaml", PDSIM_SOURCE_DIR, GetParam()));
  ASSERT_TRUE(file.ok());
  for (const Scenario& variant : file->variants) {
    if (!variant.expect.diagnosis || **variant.expect.diagnosis == "none") continue;
    const Found before = verdict_of(variant);
    EXPECT_EQ(before.diagnosis, **variant.expect.diagnosis) << variant.variant;
    for (const Change& change : harmless_changes()) {
      std::optional<Changed> changed = change.make(variant, before.culprits);
      if (!changed) continue;
      const Found after = verdict_of(changed->scenario);
      std::sort(changed->culprits.begin(), changed->culprits.end());
      const bool tie = before.culprits.size() == static_cast<std::size_t>(variant.world.spec.ranks());
      const bool same = after.diagnosis == before.diagnosis && names_the_same(after.culprits, changed->culprits, tie);
      EXPECT_TRUE(same) << GetParam() << "." << variant.variant << " with " << change.name << ": " << after.diagnosis
                        << " of " << ranks_text(after.culprits) << " (" << after.headline << ") instead of "
                        << before.diagnosis << " of " << ranks_text(changed->culprits);
      Count& count = counts()[change.name];
      ++count.all;
      if (same) ++count.same;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalog, SameDiagnosis, testing::ValuesIn(catalog()),
                         [](const auto& the_case) { return the_case.param; });

}  // namespace
}  // namespace pdsim::scenarios
