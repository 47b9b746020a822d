// What ranks under `pdsim launch`, mpirun or torchrun leave behind when they are killed or hang: pdsim diagnose explains it.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"
#include "tests/cli/support/record_files.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no `" << part << "` in:\n" << text;
}

// Three ranks of a program of somebody's own, one of which does something to itself before a call.
struct Left {
  Ended run;
  std::vector<std::string> files;
  std::string diagnosis;
};

Left launch_three(const std::vector<std::string>& what) {
  const Folder folder;
  std::vector<std::string> arguments{"launch",  "-n",    "3",         "--patience", "300ms",
                                     "--grace", "500ms", "--records", "records",    "--"};
  arguments.emplace_back(PDSIM_RANK_PROCESS);
  arguments.insert(arguments.end(), what.begin(), what.end());
  Left left{run_pdsim(arguments, folder.path()), {}, {}};
  left.files = folder.names();
  left.diagnosis = run_pdsim({"diagnose", "records"}, folder.path()).output;
  return left;
}

const std::vector<std::string> one_file{"records", "records/events.jsonl"};

TEST(LaunchRecords, ARankThatIsKilledIsNamedWithItsLastCall) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Left left = launch_three({"kill", "1", "5"});
  EXPECT_EQ(left.run.status, 128 + SIGKILL);
  EXPECT_TRUE(
      has(left.run.problems,
          "pdsim: rank 1 was ended by signal 9 (Killed); its last call was all_reduce #5 of group world, which was "
          "done\n"));
  EXPECT_TRUE(has(left.run.problems, "explains the flight records\n"));
  EXPECT_EQ(left.files, one_file);
  EXPECT_TRUE(has(left.diagnosis, "error[rank-died]: ranks 0, 2 waited for rank 1, which died"));
  EXPECT_TRUE(has(left.diagnosis, "the process of rank 1 ended by signal 9 (Killed)"));
  EXPECT_TRUE(has(left.diagnosis, "all_reduce #5 of group world, which was done."));
}

TEST(LaunchRecords, ARankThatIsStoppedIsNamedAsTheOneTheOthersWaitFor) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Left left = launch_three({"stop", "2", "3"});
  EXPECT_EQ(left.run.status, 128 + SIGSTOP);
  EXPECT_TRUE(
      has(left.run.problems, "pdsim: rank 2 has been stopped by a signal for 300ms; its last call was all_reduce #3"));
  EXPECT_EQ(left.files, one_file);
  EXPECT_TRUE(has(left.diagnosis, "deadlock[rank-hung]: rank 2 stopped between two calls, and ranks 0, 1 wait for it"));
  EXPECT_TRUE(has(left.diagnosis, "ranks 0, 1 --all_reduce #4--> rank 2"));
}

TEST(LaunchRecords, AnExitStatusAndAnExceptionAreNamedWithTheirRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Left exited = launch_three({"exit", "0", "2"});
  EXPECT_EQ(exited.run.status, 7);
  EXPECT_TRUE(has(exited.diagnosis, "the process of rank 0 ended with exit status 7"));
  const Left raised = launch_three({"raise", "1", "2"});
  EXPECT_EQ(raised.run.status, 128 + SIGABRT);
  EXPECT_TRUE(has(raised.diagnosis, "the process of rank 1 ended by signal 6 (Aborted)"));
}

TEST(LaunchRecords, OfAJobThatEndsWellAreKeptToo) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Left left = launch_three({"end", "0", "3"});
  EXPECT_EQ(left.run.status, 0) << left.run.problems;
  EXPECT_EQ(left.run.problems, "");
  EXPECT_EQ(left.files, one_file);
  EXPECT_TRUE(has(left.diagnosis, "nothing to explain"));
}

TEST(LaunchRecords, WithoutAFolderTheLastCallIsNamedAndNothingIsLeft) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder;
  const Ended run = run_pdsim({"launch", "-n", "2", "--", PDSIM_RANK_PROCESS, "kill", "0", "1"}, folder.path());
  EXPECT_TRUE(
      has(run.problems, "rank 0 was ended by signal 9 (Killed); its last call was all_reduce #1 of group world"));
  EXPECT_TRUE(folder.names().empty());
}

TEST(LaunchRecords, OfAProgramThatKeepsNoneAreMissedAndAFolderThatCannotBeIsRefused) {
  const Folder folder;
  const Ended none = run_pdsim({"launch", "-n", "1", "--records", "r", "--", "false"}, folder.path());
  EXPECT_TRUE(has(none.problems, "pdsim: no rank has kept a flight record"));
  folder.write("file", "");
  const Ended refused = run_pdsim({"launch", "-n", "1", "--records", "file", "--", "true"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(has(refused.problems, "cannot write to --records file"));
}

// Ranks hang in calls that do not match; then somebody interrupts the launcher, or kills it and its guard.
void hang_and_strike(int signal, const std::vector<std::string>& expected) {
  const Folder folder;
  const Leftovers before;
  const fs::path records = folder.path() / "records";
  const Running run({"launch", "-n", "3", "--grace", "200ms", "--records", records.string(), "--", PDSIM_RANK_PROCESS,
                     "skip", "1", "3"},
                    folder.path());
  const auto hangs = [&] {
    const std::string seen = run_pdsim({"diagnose", records.string()}, folder.path()).output;  // of the running job
    return seen.find("rank 1 called barrier, ranks 0, 2 called all_reduce") != std::string::npos;
  };
  EXPECT_TRUE(soon(hangs));
  if (signal == SIGKILL)
    for (const pid_t launcher : run.children()) kill(launcher, signal);
  run.signal(signal);
  run.status();
  EXPECT_TRUE(before.none_of(folder, expected));
  EXPECT_EQ(folder.names(), expected);
  const std::string after = run_pdsim({"diagnose", records.string()}, folder.path()).output;
  EXPECT_TRUE(has(after, "collective-mismatch]: rank 1 called barrier, ranks 0, 2 called all_reduce"));
}

TEST(LaunchRecords, OfAHangAreThereAfterAnInterrupt) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  hang_and_strike(SIGINT, one_file);
}

TEST(LaunchRecords, OutliveTheLauncherItself) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  hang_and_strike(SIGKILL, {"records", "records/rank_0.ring", "records/rank_1.ring", "records/rank_2.ring"});
}

// pdsim's own commands in a job: a process that does a rank's work is killed or stopped, and the command of rank 0 reports it.
std::string report_of_joined(int signal) {
  const Folder folder, told;
  const Leftovers before;
  const std::string output = told.path() / "output";
  const fs::path records = told.path() / "records";
  const Running run({"launch", "-n", "2", "--records", records.string(), "--", program_path(), "bench", "--on", "gloo",
                     "--min", "4KiB", "--max", "4KiB", "--iters", "1000000", "--patience", "3s"},
                    folder.path(), output);
  const auto strike = [&] {
    const std::vector<pid_t> ranks = below(getpid(), "pdsim rank gloo");
    return ranks.size() == 2 && both_recorded(records, "all_reduce") && kill(ranks[1], signal) == 0;
  };
  EXPECT_TRUE(soon([&] { return run.ended() || strike(); }));
  EXPECT_TRUE(soon([&] { return run.ended(); })) << "it hangs";
  run.status();
  EXPECT_TRUE(before.none_of(folder));
  std::ifstream file(output);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(JoinedRecords, ARankThatIsKilledTellsItsLastCall) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string report = report_of_joined(SIGKILL);
  EXPECT_TRUE(has(report, "ended by signal 9 (Killed)"));
  EXPECT_TRUE(has(report, "Its last call was"));
  EXPECT_TRUE(has(report, "rank-died]: "));
}

TEST(JoinedRecords, ARankThatIsStoppedTellsItsLastCall) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const std::string report = report_of_joined(SIGSTOP);
  EXPECT_TRUE(has(report, "rank-hung]: "));
  EXPECT_TRUE(has(report, "all_reduce #") || has(report, "barrier #"));  // bench calls both
}

// Under another launcher the folder is named in the environment. Here everything is killed, as when a node is lost:
// who would remove files too.
TEST(JoinedRecords, OutliveEveryProcessOfAJobThatAnotherLauncherStarted) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder, records;
  const std::string script = "export PDSIM_FLIGHT_RECORD=" + records.path().string() +
                             "; for r in 0 1; do RANK=$r WORLD_SIZE=2 " + program_path() +
                             " bench --on gloo --min 4KiB --max 4KiB --iters 1000000 & done; wait";
  const Running run({"launch", "-n", "1", "--", "sh", "-c", script}, folder.path());
  EXPECT_TRUE(soon([&] { return both_recorded(records.path(), "all_reduce"); }));
  for (const pid_t pid : below(getpid(), "bench")) kill(pid, SIGKILL);
  run.status();
  EXPECT_TRUE(soon(no_child_left)) << "a process is still there";
  EXPECT_EQ(records.names(), (std::vector<std::string>{"rank_0.ring", "rank_1.ring"}));
  const std::string diagnosis = run_pdsim({"diagnose", records.path().string()}, folder.path()).output;
  EXPECT_TRUE(has(diagnosis, "2 ranks, "));
  EXPECT_TRUE(has(diagnosis, "all_reduce #") || has(diagnosis, "nothing to explain"));
}

}  // namespace
}  // namespace pdsim::cli_tests
