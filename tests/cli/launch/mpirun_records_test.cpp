// What a job leaves that mpirun has started with PDSIM_FLIGHT_RECORD=FOLDER: the record of every rank, in which pdsim diagnose finds
// who was killed, who was stopped, and who went apart. pdsim launch is only there to end mpirun with the test.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"
#include "tests/cli/support/record_files.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

testing::AssertionResult has_text(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no `" << part << "` in:\n" << text;
}

std::string diagnosis_of(const Folder& records) {
  const Folder anywhere;
  return run_pdsim({"diagnose", records.path().string()}, anywhere.path()).output;
}

std::vector<std::string> under_mpirun(int ranks, const Folder& records, const std::string& command) {
  const std::string mpirun = "export PDSIM_FLIGHT_RECORD=" + records.path().string() +
                             " OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; unset RANK WORLD_SIZE; exec "
                             "mpirun --oversubscribe -n " +
                             std::to_string(ranks) + " " + command;
  return {"launch", "-n", "1", "--", "sh", "-c", mpirun};
}

// The process that does the work of a rank is struck while it makes calls; mpirun ends the job when rank 0's command has ended.
std::string diagnosis_after(int signal, const std::string& world) {
  const Folder folder, records;
  const Leftovers before;
  const std::string bench = program_path() + " bench --min 4KiB --max 4KiB --iters 1000000 --patience 3s --on " + world;
  const Running run(under_mpirun(2, records, bench), folder.path());
  const auto strike = [&] {
    const std::vector<pid_t> ranks = below(getpid(), "pdsim rank " + world);
    return ranks.size() == 2 && both_recorded(records.path(), "all_reduce") && kill(ranks[1], signal) == 0;
  };
  EXPECT_TRUE(soon([&] { return run.ended() || strike(); }));
  EXPECT_TRUE(soon([&] { return run.ended(); })) << "it hangs";
  EXPECT_NE(run.status(), 0);
  EXPECT_TRUE(before.none_of(folder));
  EXPECT_EQ(records.names(), (std::vector<std::string>{"rank_0.ring", "rank_1.ring"}));
  return diagnosis_of(records);
}

TEST(MpirunRecords, NameTheRankThatWasKilled) {
  for (const std::string world : {"mpi", "gloo"}) {
    if (!is_there("mpi") || !is_there(world)) GTEST_SKIP() << "there is no mpirun, or no " << world;
    const std::string diagnosis = diagnosis_after(SIGKILL, world);
    EXPECT_TRUE(has_text(diagnosis, "[rank-died]: "));
    EXPECT_TRUE(has_text(diagnosis, "ended by signal 9 (Killed)"));
    EXPECT_TRUE(has_text(diagnosis, "Its last call was"));
    EXPECT_TRUE(has_text(diagnosis, "all_reduce #") || has_text(diagnosis, "barrier #"));  // bench calls both
  }
}

TEST(MpirunRecords, NameTheRankThatWasStopped) {
  for (const std::string world : {"mpi", "gloo"}) {
    if (!is_there("mpi") || !is_there(world)) GTEST_SKIP() << "there is no mpirun, or no " << world;
    EXPECT_TRUE(has_text(diagnosis_after(SIGSTOP, world), "[rank-hung]: "));
  }
}

// A program of somebody's own: its ranks go apart and hang until the whole job is ended from outside.
TEST(MpirunRecords, OfAProgramThatHungTellWhoWentApart) {
  if (!is_there("mpi") || !is_there("gloo")) GTEST_SKIP() << "there is no mpirun, or no gloo for the program";
  const Folder folder, records;
  const Leftovers before;
  const Running run(
      under_mpirun(3, records, "sh -c 'RANK=$OMPI_COMM_WORLD_RANK WORLD_SIZE=3 exec " PDSIM_RANK_PROCESS " skip 1 3'"),
      folder.path());
  const std::string apart = "rank 1 called barrier, ranks 0, 2 called all_reduce";
  EXPECT_TRUE(soon([&] { return run.ended() || has_text(diagnosis_of(records), apart); }));
  EXPECT_EQ(run.interrupted(SIGTERM), 128 + SIGTERM);
  EXPECT_TRUE(before.none_of(folder));
  EXPECT_TRUE(has_text(diagnosis_of(records), "collective-mismatch]: " + apart));
}

}  // namespace
}  // namespace pdsim::cli_tests
