// What `pdsim scenario --json --out` prints and writes of the whole catalog. It runs once for the tests of this suite, which share a
// process (see tests/CMakeLists.txt).
#pragma once

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::cli_tests {

class CatalogOutputs : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite() { run().reset(); }

  static const std::vector<std::string>& files() { return run()->files; }        // as given to the command
  static const std::vector<std::string>& lines() { return run()->lines; }        // that it printed
  static const std::filesystem::path& folder() { return run()->folder.path(); }  // of --out

 private:
  struct Run {
    Folder folder;
    std::vector<std::string> files;
    std::vector<std::string> lines;
  };
  static std::optional<Run>& run();
};

}  // namespace pdsim::cli_tests
