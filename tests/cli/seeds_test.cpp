// The catalog with other seeds and in another order: what holds for one alone says so in its file, and nothing else fails.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

Ended run_catalog(const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{"scenario", "--quiet"};
  for (const auto& entry : std::filesystem::directory_iterator(source_tree / "scenarios/catalog"))
    if (entry.path().extension() == ".yaml") arguments.push_back(entry.path().string());
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return run_pdsim(arguments, "/");
}

void expect_no_failure(const std::vector<std::string>& flags, const std::string& why) {
  const Ended run = run_catalog(flags);
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_EQ(run.output.find("FAIL"), std::string::npos) << run.output.substr(run.output.find("FAIL"), 500);
  EXPECT_NE(run.output.find(why), std::string::npos);
}

TEST(Seeds, OfTheCatalogMayBeAnother) { expect_no_failure({"--seed", "1"}, "not checked with seed 1"); }
TEST(Seeds, OfTheCatalogMayBeAThird) { expect_no_failure({"--seed", "2"}, "not checked with seed 2"); }
TEST(Seeds, TheOrderOfTheCatalogMayBeAnother) {
  expect_no_failure({"--strategy", "random"}, "not checked with strategy random");
}

TEST(Seeds, TheFilesOwnSeedIsChecked) {
  const Ended run = run_pdsim({"scenario", "comm_hooks", "--seed", "7", "--quiet"}, "/");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_EQ(run.output.find("SKIP"), std::string::npos) << run.output;
}

}  // namespace
}  // namespace pdsim::cli_tests
