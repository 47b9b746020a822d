// How the scenario command ends when its surroundings fail: no reader, no space, no standard output, Ctrl-C. The status is
// right, the line is clear, and nothing stays behind: no process, no file.

#include "tests/cli/support/program.h"
#include "tests/cli/support/running.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

Ended run_good(const std::vector<std::string>& more, const RunOptions& options) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  std::vector<std::string> arguments{"scenario", "mine.yaml"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Ended run = run_pdsim(arguments, folder.path(), options);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"mine.yaml"});
  return run;
}

TEST(Endings, AFullDiskUnderStandardOutputIsAFailure) {
  RunOptions options;
  options.output_to = "/dev/full";
  const Ended run = run_good({}, options);
  EXPECT_EQ(run.status, 4);
  EXPECT_NE(run.problems.find("cannot write to standard output: No space left on device"), std::string::npos)
      << run.problems;
}

TEST(Endings, WithoutAStandardOutputNothingIsRun) {
  RunOptions options;
  options.close_output = true;
  const Ended run = run_good({"--out", "never-made"}, options);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems, "pdsim: standard output is closed; nothing was run\n");
}

TEST(Endings, AReaderThatLeavesIsNoProblem) {
  RunOptions options;
  options.leave_output = true;
  const Ended run = run_good({}, options);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.problems, "");
}

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

TEST(Endings, CtrlCEndsALongSimulationAtOnce) {
  for (const int signal : signals) {
    const Folder folder;
    folder.write("mine.yaml", R"(pdsim: 1
name: mine
summary: a training that takes minutes
world: {ranks: 2}
model: {layers: {a: {linear: [8, 8]}}}
program: [init_process_group, {train: {steps: 1000000}}]
expect: {outcome: ok}
)");
    const Running run({"scenario", "mine.yaml", "--out", "out"}, folder.path());
    ASSERT_TRUE(run.wait_until([&] { return run.computed_ms() > 300; }));
    EXPECT_EQ(run.interrupted(signal), 128 + signal);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"mine.yaml", "out"}));
  }
}

// While the ranks start, and while they hang: both wait for a message that nobody sends.
TEST(Endings, CtrlCEndsRealRanksAndRemovesTheirFiles) {
  const bool here = run_pdsim({"scenario", "all_reduce_closed_form", "--on", "gloo"}, "/").status != 3;
  if (!here) GTEST_SKIP() << "no Gloo in this build";
  for (const int signal : signals) {
    for (const std::size_t files : {2U, 3U}) {  // mine.yaml and the run's folder; what the ranks write there
      const Folder folder;
      folder.write("mine.yaml", R"(pdsim: 1
name: mine
summary: each rank waits for the other
world: {ranks: 2}
program: [init_process_group, {recv: {src: 1, count: 1}, when: {rank: 0}}, {recv: {src: 0, count: 1}, when: {rank: 1}}]
expect: {outcome: deadlock}
)");
      const Running run({"scenario", "mine.yaml", "--on", "gloo", "--patience", "10min"}, folder.path());
      ASSERT_TRUE(run.wait_until([&] { return folder.names().size() >= files; }));
      EXPECT_EQ(run.interrupted(signal), 128 + signal);
      EXPECT_EQ(folder.names(), std::vector<std::string>{"mine.yaml"});
      EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a rank is still there";
    }
  }
}

TEST(Endings, WhatWasWrittenBeforeTheDiskWasFullIsWhole) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  fs::create_directories(folder.path() / "out/mine/report.html");  // a folder stands where the file should be
  const Ended run = run_pdsim({"scenario", "mine.yaml", "--out", "out"}, folder.path());
  EXPECT_EQ(run.status, 4);
  EXPECT_NE(run.problems.find("cannot write"), std::string::npos) << run.problems;
  for (const std::string& name : folder.names()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
}

}  // namespace
}  // namespace pdsim::cli_tests
