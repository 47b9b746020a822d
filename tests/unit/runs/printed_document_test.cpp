// The document of a variant, as `pdsim check --print` prints it, is a scenario of its own that runs as the variant does.
#include "scenarios/language/loader.h"
#include "scenarios/run/run_scenarios.h"
#include "scenarios/worlds/worlds.h"
#include "tests/helpers/catalog_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace pdsim::scenarios {
namespace {

Result<Report> simulated_run(const Scenario& scenario) {
  std::string problem;
  return run_scenario(scenario, *world_named("sim", problem), {});
}

void expect_that_it_runs_alike(const LoadedFile& file, const Scenario& variant) {
  SCOPED_TRACE(file.file + ": " + variant.variant);
  const LoadedFile printed = load_text(file.file, effective_document(file, variant.variant));
  ASSERT_EQ(printed.errors, 0) << render(printed, printed.diagnostics.front());
  ASSERT_EQ(printed.variants.size(), 1U);
  const Result<Report> original = simulated_run(variant), again = simulated_run(printed.variants.front());
  ASSERT_TRUE(original.ok() && again.ok());
  ASSERT_TRUE(original->run.fingerprint.has_value());
  EXPECT_EQ(again->run.fingerprint, original->run.fingerprint);
  EXPECT_EQ(again->verdict, original->verdict);
}

TEST(PrintedDocument, OfEveryVariantOfTheCatalogRunsAsTheVariant) {
  for (const std::filesystem::path& path : catalog_files()) {
    const Result<LoadedFile> file = load_file(path.string());
    ASSERT_TRUE(file.ok());
    for (const Scenario& variant : file->variants) expect_that_it_runs_alike(*file, variant);
  }
}

}  // namespace
}  // namespace pdsim::scenarios
