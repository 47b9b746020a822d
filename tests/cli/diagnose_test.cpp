// `pdsim diagnose` says of a saved record what `pdsim scenario` said of the run.

#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

// From the headline to the fix, which only the live run can prove by other variants.
std::string explanation(const std::string& report, const std::string& headline) {
  const std::size_t from = report.find(headline), to = report.find("\nfix");
  return from == std::string::npos || to == std::string::npos ? "no explanation in: " + report
                                                              : report.substr(from, to - from);
}

TEST(Diagnose, SaysTheSameOfTheSavedRecordAsOfTheRun) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"unused_params/broken", "deadlock[unused-parameters]"},
      {"unused_params/error_at_next_forward", "error[unused-parameters]"},
      {"barrier_hang/broken", "deadlock[collective-mismatch]"},
      {"inplace_buffer_broadcast/broken", "error[buffer-broadcast-inplace]"},
      {"reused_store_file/broken", "timeout[stale-rendezvous]"},
  };
  for (const auto& [name, headline] : cases) {
    const std::string file = "scenarios/" + name.substr(0, name.find('/')) + ".yaml";
    const std::string variant = name.substr(name.find('/') + 1);
    const Ended live =
        run_pdsim({"scenario", file, "--variant", variant, "--out", folder.path().string()}, source_tree);
    const Ended saved = run_pdsim({"diagnose", (folder.path() / name / "events.jsonl").string()}, source_tree);
    EXPECT_EQ(saved.status, 0) << saved.problems;
    EXPECT_EQ(explanation(saved.output, headline), explanation(live.output, headline)) << name;
  }
  const Ended all = run_pdsim({"diagnose", folder.path().string()}, folder.path());
  EXPECT_EQ(all.status, 0);
  for (const auto& [name, headline] : cases) EXPECT_NE(all.output.find(headline), std::string::npos) << name;
}

TEST(Diagnose, OfARunThatEndedWellSaysSo) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "fixed", "--out", folder.path().string()}, source_tree);
  const Ended saved = run_pdsim({"diagnose", folder.path().string()}, folder.path());
  EXPECT_EQ(saved.status, 0);
  EXPECT_NE(saved.output.find("nothing to explain"), std::string::npos) << saved.output;
}

TEST(Diagnose, ReadsRecordsThatDoNotTellWhereTheyComeFrom) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "broken", "--out", folder.path().string()}, source_tree);
  std::ifstream file(folder.path() / "unused_params" / "broken" / "events.jsonl");
  std::ostringstream text;
  text << file.rdbuf();
  folder.write("mine.jsonl", text.str().substr(text.str().find('\n') + 1));
  const Ended saved = run_pdsim({"diagnose", "mine.jsonl"}, folder.path());
  EXPECT_EQ(saved.status, 0) << saved.problems;
  EXPECT_NE(saved.output.find("deadlock[unused-parameters]: rank 0 waits for a gradient bucket"), std::string::npos)
      << saved.output;
}

TEST(Diagnose, RefusesWhatIsNoRecord) {
  const Folder folder;
  folder.write("empty", "");
  folder.write("junk", std::string("\0\xff\x01{}[", 6));
  folder.write("half", "{\"event\":\"call\",\"ra");
  fs::create_directory(folder.path() / "nothing");
  for (const char* name : {"empty", "junk", "half", "nothing", "missing"}) {
    const Ended run = run_pdsim({"diagnose", name}, folder.path());
    EXPECT_EQ(run.status, 2) << name;
    EXPECT_EQ(run.output, "") << name;
    EXPECT_EQ(std::count(run.problems.begin(), run.problems.end(), '\n'), 1) << run.problems;
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
