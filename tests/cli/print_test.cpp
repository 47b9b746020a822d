// What `pdsim check --print` prints is a scenario of its own that runs as the variant it shows.
#include "scenarios/language/loader.h"
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

std::string fingerprint_of(const std::string& output) {
  const std::size_t at = output.find("fingerprint ");
  return at == std::string::npos ? "" : output.substr(at, output.find_first_of(" \n", at + 12) - at);
}

void expect_same_run(const std::string& file, const std::string& variant) {
  SCOPED_TRACE(file + ": " + variant);
  const Folder folder;
  std::vector<std::string> print{"check", file, "--print"};
  std::vector<std::string> run{"scenario", file};
  if (!variant.empty()) {
    for (std::vector<std::string>* arguments : {&print, &run})
      arguments->insert(arguments->end(), {"--variant", variant});
  }
  const Ended printed = run_pdsim(print, folder.path());
  ASSERT_EQ(printed.status, 0) << printed.problems;
  const std::string name = std::filesystem::path(file).filename().string();  // which a file's `name` repeats
  folder.write(name, printed.output);
  const Ended original = run_pdsim(run, folder.path());
  const Ended again = run_pdsim({"scenario", "./" + name}, folder.path());
  EXPECT_EQ(again.status, original.status) << again.problems;
  EXPECT_NE(fingerprint_of(original.output), "") << original.output;
  EXPECT_EQ(fingerprint_of(again.output), fingerprint_of(original.output));
}

TEST(Print, RunsAsTheVariantThatItShows) {  // tests/unit/runs does it with every variant of the catalog
  for (const char* file : {"barrier_hang", "unused_params", "routed_experts"}) {
    const std::string path = std::string(PDSIM_SOURCE_DIR "/scenarios/catalog/") + file + ".yaml";
    const auto loaded = scenarios::load_file(path);
    ASSERT_TRUE(loaded.ok());
    for (const scenarios::Scenario& scenario : loaded->variants) expect_same_run(path, scenario.variant);
  }
}

TEST(Print, NeedsAVariantWhereThereAreSeveralAndNamesThem) {
  const Folder folder;
  const Ended run = run_pdsim({"check", "barrier_hang", "--print"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_NE(run.problems.find("add --variant and one of broken, "), std::string::npos) << run.problems;
}

}  // namespace
}  // namespace pdsim::cli_tests
