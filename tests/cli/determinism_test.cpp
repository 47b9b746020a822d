// What --check-determinism tells, and with which status.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

namespace pdsim::cli_tests {
namespace {

TEST(CheckDeterminism, APlantedLeakEndsWithFourAndNamesTheFirstDifferingEvent) {
  const Folder folder;
  for (const char* leak : {"clock", "pointer-order", "static-counter", "random-device"}) {
    RunOptions options;
    options.program = PDSIM_LEAKING_SCENARIO;
    const Ended run = run_pdsim({"unused_params", leak}, folder.path(), options);
    EXPECT_EQ(run.status, 4) << leak << run.output;
    EXPECT_NE(run.problems.find("differ (this is a bug in pdsim, please report it): event "), std::string::npos)
        << run.problems;
    EXPECT_EQ(run.output, "");
  }
}

TEST(CheckDeterminism, WithoutALeakEveryStrategyHolds) {
  const Folder folder;
  for (const char* strategy : {"fifo", "replay:0.1.1"}) {
    const Ended run =
        run_pdsim({"scenario", "unused_params", "--check-determinism", "--strategy", strategy}, folder.path());
    EXPECT_EQ(run.status, 0) << run.problems;
  }
}

TEST(CheckDeterminism, IsRefusedForRealWorlds) {
  const Folder folder;
  const Ended run = run_pdsim({"scenario", "unused_params", "--check-determinism", "--on", "gloo"}, folder.path());
  EXPECT_EQ(run.status, 2);
}

}  // namespace
}  // namespace pdsim::cli_tests
