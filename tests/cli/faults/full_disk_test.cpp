// Disks that take nothing more: every file that a command writes is whole or not there, the line names it, and the status is 4.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

constexpr std::string_view earlier = "what was there before";

// With files of at most `bytes`; `target` is the file that the command would write.
void expect_whole_or_untouched(const std::vector<std::string>& arguments, const std::string& target,
                               std::uint64_t bytes) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  std::filesystem::create_directories((folder.path() / target).parent_path());
  folder.write(target, earlier);
  const std::vector<std::string> before = folder.names();
  RunOptions options;
  options.most_file = bytes;
  const Ended run = run_pdsim(arguments, folder.path(), options);
  EXPECT_EQ(run.status, 4) << arguments.front() << ": " << run.problems;
  EXPECT_NE(run.problems.find("cannot write"), std::string::npos) << run.problems;
  EXPECT_NE(run.problems.find(": File too large"), std::string::npos) << run.problems;
  EXPECT_EQ(text_of(folder.path() / target), earlier) << arguments.front();
  EXPECT_EQ(folder.names(), before) << arguments.front();
}

const std::vector<std::string> to_out{"scenario", "mine.yaml", "--out", "out"};

TEST(FullDisk, LeavesTheReportsOfARunAsTheyWere) {
  expect_whole_or_untouched(to_out, "out/mine/report.html", 1000);
  expect_whole_or_untouched(to_out, "out/mine/events.jsonl", 1000);
}

TEST(FullDisk, LeavesPicturesAsTheyWere) {
  expect_whole_or_untouched({"explain", "ring", "--svg", "ring.svg"}, "ring.svg", 100);
  expect_whole_or_untouched({"buckets", "backward_overlap", "--sweep", "25MiB", "--svg", "caps.svg"}, "caps.svg", 100);
}

TEST(FullDisk, LeavesDumpsAsTheyWere) {
  const Folder records;
  records.write("mine.yaml", good_scenario);
  ASSERT_EQ(run_pdsim(to_out, records.path()).status, 0);
  const std::string events = (records.path() / "out/mine/events.jsonl").string();
  expect_whole_or_untouched({"diagnose", events, "--out", "dumps"}, "dumps/mine/rank_0", 100);
}

TEST(FullDisk, IsNoticedBeforeAnythingRuns) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  RunOptions options;
  options.most_file = 0;
  const Ended run = run_pdsim(to_out, folder.path(), options);
  EXPECT_EQ(run.status, 4);
  EXPECT_EQ(run.output, "");
  EXPECT_NE(run.problems.find("nothing was run"), std::string::npos) << run.problems;
}

TEST(FullDisk, OfALaunchLeavesNoHalfRecord) {
  const Folder folder;
  RunOptions options;
  options.most_file = 1000;
  const Ended run = run_pdsim({"launch", "-n", "2", "--records", "records", "--", "true"}, folder.path(), options);
  EXPECT_EQ(run.status, 4) << run.problems;
  EXPECT_EQ(folder.names(), std::vector<std::string>{"records"});
}

TEST(FullDisk, APlaceThatTakesNoFileEndsALaunchWithFour) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() / "records/events.jsonl/folder");
  const std::string validate =
      std::string(PDSIM_PROGRAM) + " validate --collective barrier --algorithm linear --on gloo";
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = run_pdsim({"launch", "-n", "2", "--records", "records", "--", "sh", "-c", validate}, folder.path());
  EXPECT_EQ(run.status, 4) << run.problems;
  EXPECT_NE(run.problems.find("events.jsonl: Is a directory; the files rank_N.ring stay"), std::string::npos)
      << run.problems;
}

TEST(FullDisk, AFileIsReplacedBehindItsLinkAndADeviceIsWrittenAsItIs) {
  const Folder folder;
  folder.write("there.svg", earlier);
  std::filesystem::create_symlink("there.svg", folder.path() / "link.svg");
  EXPECT_EQ(run_pdsim({"explain", "ring", "--svg", "link.svg"}, folder.path()).status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link.svg"));
  EXPECT_TRUE(text_of(folder.path() / "there.svg").starts_with("<svg"));
  std::filesystem::create_symlink("/dev/full", folder.path() / "full.svg");
  const Ended full = run_pdsim({"explain", "ring", "--svg", "full.svg"}, folder.path());
  EXPECT_EQ(full.status, 4);
  EXPECT_NE(full.problems.find("cannot write full.svg: No space left on device"), std::string::npos) << full.problems;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"full.svg", "link.svg", "there.svg"}));
}

}  // namespace
}  // namespace pdsim::cli_tests
