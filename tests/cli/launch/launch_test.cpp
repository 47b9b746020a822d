// pdsim launch: what ranks are told, what is shown of them, and how the job ends.

#include "tests/cli/support/program.h"
#include "tests/cli/support/running.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

Ended launch(const std::vector<std::string>& flags, const std::string& script, const Folder& folder) {
  std::vector<std::string> arguments{"launch"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", script});
  return run_pdsim(arguments, folder.path());
}

Ended launch(const std::vector<std::string>& flags, const std::string& script) {
  return launch(flags, script, Folder());
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Launch, TellsEveryRankWhoItIs) {
  const Ended run = launch({"-n", "3"}, "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_EQ(sorted_lines(run.output),
            (Lines{"[rank 0] 0/3 0/3 127.0.0.1", "[rank 1] 1/3 1/3 127.0.0.1", "[rank 2] 2/3 2/3 127.0.0.1"}));
}

TEST(Launch, KeepsStandardOutputAndErrorApartAndShowsLastLinesWithoutAnEnd) {
  const Ended run = launch({"-n", "2"}, "echo out; echo err >&2; printf 'the end'; printf 'of err' >&2");
  EXPECT_EQ(sorted_lines(run.output), (Lines{"[rank 0] out", "[rank 0] the end", "[rank 1] out", "[rank 1] the end"}));
  EXPECT_EQ(sorted_lines(run.problems), (Lines{"[rank 0] err", "[rank 0] of err", "[rank 1] err", "[rank 1] of err"}));
}

TEST(Launch, NeverMixesTwoRanksInOneLine) {
  // Every line comes in three writes.
  const Ended run = launch({"-n", "4"}, "for i in 1 2 3 4 5 6 7 8 9; do printf $RANK-; printf $i-; echo $RANK; done");
  const Lines lines = sorted_lines(run.output);
  ASSERT_EQ(lines.size(), 36U);
  for (const std::string& line : lines) {
    EXPECT_EQ(line.size(), std::string_view("[rank 0] 0-1-0").size()) << line;
    EXPECT_TRUE(line[6] == line[9] && line[6] == line.back()) << line;
  }
}

TEST(Launch, ALongLineComesWholeUpTo64KiBAndInPiecesBeyond) {
  const Ended run =
      launch({"-n", "1"}, "head -c 65536 /dev/zero | tr '\\0' a; echo; head -c 65537 /dev/zero | tr '\\0' b");
  const Lines lines = sorted_lines(run.output);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "[rank 0] " + std::string(65536, 'a'));
  EXPECT_EQ(lines[1], "[rank 0] b");
  EXPECT_EQ(lines[2], "[rank 0] " + std::string(65536, 'b'));
}

TEST(Launch, TheRankThatFailsIsNamedAndGivesTheStatus) {
  const Ended run = launch({"-n", "3"}, "[ $RANK = 1 ] && exit 7; sleep 1000");
  EXPECT_EQ(run.status, 7);
  EXPECT_EQ(run.problems, "pdsim: rank 1 ended with exit status 7\npdsim: ending the other ranks: 0, 2\n");
}

TEST(Launch, ASignalIsNamedAndGivesTheStatusOfAShell) {
  const Ended run = launch({"-n", "2"}, "[ $RANK = 0 ] && kill -9 $$; sleep 1000");
  EXPECT_EQ(run.status, 128 + SIGKILL);
  EXPECT_EQ(run.problems, "pdsim: rank 0 was ended by signal 9 (Killed)\npdsim: ending the other ranks: 1\n");
}

TEST(Launch, RanksThatAreDoneLetTheOthersGoOn) {
  const Folder folder;
  const Ended run =
      launch({"-n", "2"}, "[ $RANK = 0 ] && exit 0; while kill -0 $PPID && [ ! -e go ]; do echo > go; done; echo done",
             folder);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, "[rank 1] done\n");
}

TEST(Launch, AStoppedRankIsADeadOneAfterThePatience) {
  const Ended run = launch({"-n", "2", "--patience", "200ms"}, "[ $RANK = 1 ] && kill -STOP $$; sleep 1000");
  EXPECT_EQ(run.status, 128 + SIGSTOP);
  EXPECT_NE(
      run.problems.find("pdsim: rank 1 has been stopped by a signal for 200ms\npdsim: ending the other ranks: 0\n"),
      std::string::npos)
      << run.problems;
}

TEST(Launch, WhereNobodyDoesAnythingThatIsToldAndTheJobGoesOn) {
  RunOptions options;
  options.interrupt_after_bytes = 1;
  const Folder folder;
  const Ended run =
      run_pdsim({"launch", "-n", "2", "--patience", "200ms", "--", "sleep", "1000"}, folder.path(), options);
  EXPECT_EQ(run.status, 128 + SIGINT);
  const std::string told = "pdsim: no rank has computed or printed anything for 200ms: rank 0 waits (process ";
  EXPECT_EQ(run.problems.find(told), 0U) << run.problems;
}

TEST(Launch, WhoIgnoresSigtermIsKilledAfterTheGrace) {
  // Not asleep: a shell that has just begun to wait for a child runs its trap only when that ends.
  const std::string stubborn = "trap 'echo no' TERM; echo > set; while :; do :; done";
  const Ended run = launch({"-n", "2", "--grace", "200ms"},
                           "[ $RANK = 1 ] && { " + stubborn + "; }; while [ ! -e set ]; do :; done; exit 3", Folder());
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.output, "[rank 1] no\n");
}

// The pipes of the test's own capture would stay open, and run_pdsim would wait, if a daemon were left.
TEST(Launch, DaemonsOfRanksGoWithTheJob) {
  const Ended run = launch({"-n", "2"}, "setsid sleep 1000 & exit 0");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.problems, "");
}

TEST(Launch, TheMasterPortIsFreeForRankZeroAndForNobodyWhoAsksForAFreeOne) {
  const Folder folder;
  folder.write("serve.py", R"(import os, socket
port = int(os.environ["MASTER_PORT"])
for _ in range(200):
    s = socket.socket(); s.bind(("", 0)); assert s.getsockname()[1] != port
server = socket.socket(); server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", port)); server.listen()
client = socket.create_connection(("127.0.0.1", port)); server.accept()
print("served")
)");
  const Ended run =
      launch({"-n", "1"}, "command -v python3 >/dev/null || { echo served; exit 0; }; python3 serve.py", folder);
  EXPECT_EQ(run.output, "[rank 0] served\n") << run.problems;
}

TEST(Launch, WhatAJobAroundTheLauncherHasToldDoesNotReachTheRanks) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "TORCHELASTIC_RUN_ID"})
    setenv(name, "5", 1);
  const Ended run = launch({"-n", "1"}, "echo $OMPI_COMM_WORLD_RANK$SLURM_PROCID$PMI_RANK$TORCHELASTIC_RUN_ID.");
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "TORCHELASTIC_RUN_ID"}) unsetenv(name);
  EXPECT_EQ(run.output, "[rank 0] .\n");
}

TEST(Launch, ASlowProgramEndsWithTheLauncherOnAnInterrupt) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Folder folder;
    const Running run({"launch", "-n", "2", "--", "sh", "-c", "echo > started$RANK; sleep 1000"}, folder.path());
    const auto started = [&] {
      return std::filesystem::exists(folder.path() / "started0") && std::filesystem::exists(folder.path() / "started1");
    };
    EXPECT_TRUE(run.wait_until(started));
    EXPECT_EQ(run.interrupted(signal), 128 + signal);
    EXPECT_LT(waitpid(-1, nullptr, WNOHANG), 0) << "a process is left";
  }
}

struct WrongLaunch {
  std::vector<std::string> arguments;
  std::string problem;
};

TEST(Launch, WrongInputIsOneClearErrorAndNothingRuns) {
  const Folder folder;
  folder.write("text", "no program");
  folder.write("broken", "#!/no/such/interpreter\n");
  chmod((folder.path() / "broken").c_str(), 0755);
  const std::vector<WrongLaunch> wrongs{
      {{"-n", "0", "--", "true"}, "--ranks: Value 0 not in range 1 to 256"},
      {{"-n", "-1", "--", "true"}, "--ranks: Value -1 not in range 1 to 256"},
      {{"-n", "1000000", "--", "true"}, "--ranks: Value 1000000 not in range 1 to 256"},
      {{"--", "true"}, "--ranks is required"},
      {{"-n", "2"}, "PROGRAM is required"},
      {{"-n", "2", "--", ""}, "the program has no name; nothing was run"},
      {{"-n", "2", "--", "no-such-program"}, "there is no program `no-such-program` in PATH; nothing was run"},
      {{"-n", "2", "--", "./none"}, "there is no program ./none; nothing was run"},
      {{"-n", "2", "--", "./text"}, "./text is not executable; nothing was run"},
      {{"-n", "2", "--", "."}, "there is no program `.` in PATH; nothing was run"},
      {{"-n", "2", "--", "./broken"}, "cannot execute ./broken: No such file or directory"},
      {{"-n", "2", "--", "./"}, "./ is not a file; nothing was run"},
      {{"-n", "2", "--on", "glo", "--", "true"}, "unknown world `glo`; did you mean `gloo`?; nothing was run"},
      {{"-n", "2", "--on", "sim", "--", "true"}, "processes cannot be started in the simulated world"},
      {{"-n", "2", "--patience", "10", "--", "true"}, "--patience: "},
  };
  for (const WrongLaunch& wrong : wrongs) {
    std::vector<std::string> arguments{"launch"};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Ended run = run_pdsim(arguments, folder.path());
    EXPECT_EQ(run.status, 2) << run.problems;
    EXPECT_EQ(run.problems.find("pdsim: " + wrong.problem), 0U) << run.problems;
    EXPECT_EQ(run.output, "");
  }
}

TEST(Launch, AReaderThatLeavesAndAFullDiskEndLikeEveryOtherCommand) {
  RunOptions options;
  options.leave_output = true;
  const Folder folder;
  EXPECT_EQ(run_pdsim({"launch", "-n", "2", "--", "echo", "x"}, folder.path(), options).status, 0);
  // The job goes on without a reader, and its ranks are never blocked by that.
  const Ended much =
      run_pdsim({"launch", "-n", "2", "--", "sh", "-c", "yes | head -c 3000000; echo > done.$RANK; exit $RANK"},
                folder.path(), options);
  EXPECT_EQ(much.status, 1) << much.problems;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"done.0", "done.1"}));
  options.leave_output = false;
  options.output_to = "/dev/full";
  const Ended full = run_pdsim({"launch", "-n", "2", "--", "echo", "x"}, folder.path(), options);
  EXPECT_EQ(full.status, 4);
  EXPECT_EQ(full.problems, "pdsim: cannot write to standard output: No space left on device\n");
}

}  // namespace
}  // namespace pdsim::cli_tests
