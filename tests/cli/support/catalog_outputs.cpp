#include "tests/cli/support/catalog_outputs.h"

#include "tests/helpers/catalog_files.h"

#include <sstream>

namespace pdsim::cli_tests {

void CatalogOutputs::SetUpTestSuite() {
  Run& all = run().emplace();
  for (const std::filesystem::path& file : scenarios::catalog_files())
    all.files.push_back("scenarios/catalog/" + file.filename().string());
  std::vector<std::string> arguments{"scenario", "--json", "--out", folder().string()};
  arguments.insert(arguments.end(), all.files.begin(), all.files.end());
  const Ended ended = run_pdsim(arguments, source_tree);
  EXPECT_EQ(ended.status, 0) << ended.problems;
  std::istringstream printed(ended.output);
  for (std::string line; std::getline(printed, line);) all.lines.push_back(line);
}

std::optional<CatalogOutputs::Run>& CatalogOutputs::run() {
  static std::optional<Run> one;
  return one;
}

}  // namespace pdsim::cli_tests
