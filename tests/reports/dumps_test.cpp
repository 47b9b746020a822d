// Dumps of PyTorch's Flight Recorder with known truth. A new case is a folder in dumps/ and a row in dumps.txt.

#include "tests/cli/program.h"
#include "tests/reports/reports.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace pdsim::report_tests {
namespace {

namespace fs = std::filesystem;

const fs::path here = fs::path(PDSIM_TESTS_DIR) / "reports";

TEST(Reports, EveryFolderOfDumpsHasOneRow) {
  std::multiset<std::string> rows, folders;
  for (const Case& one : cases_of(here / "dumps.txt")) rows.insert(one.name);
  for (const fs::directory_entry& entry : fs::directory_iterator(here / "dumps"))
    folders.insert(entry.path().filename().string());
  EXPECT_EQ(rows, folders);
}

TEST(Reports, FindTheCauseInDumps) {
  std::vector<Got> all;
  for (const Case& one : cases_of(here / "dumps.txt")) {
    const cli_tests::Ended run =
        cli_tests::run_pdsim({"diagnose", "--json", (here / "dumps" / one.name).string()}, here);
    all.push_back({one, findings_text(run.output)});
  }
  EXPECT_EQ(compared("dumps", all), "");
}

TEST(ReportTable, TellsARightCaseThatBreaksAndAWrongOneThatTurnsRight) {
  const Case right{"a", "missing-call 3", true}, wrong{"b", "none", false};
  EXPECT_EQ(compared("nothing changed", {{right, "missing-call 3"}, {wrong, "all-stuck -"}}), "");
  EXPECT_EQ(compared("one broke", {{right, "none"}}), "a: wanted missing-call 3, got none\n");
  EXPECT_EQ(compared("one turned right", {{wrong, "none"}}), "b is right now: say so in its row\n");
}

}  // namespace
}  // namespace pdsim::report_tests
