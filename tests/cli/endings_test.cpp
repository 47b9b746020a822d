// How the scenario command ends when its surroundings fail: no reader, no space, no standard output, Ctrl-C. The status is
// right, the line is clear, and nothing stays behind: no process, no file.

#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

const std::string good = R"(pdsim: 1
name: mine
summary: two ranks meet at a barrier
world: {ranks: 2}
program: [init, barrier]
expect: {outcome: ok}
)";

Ended run_good(const std::vector<std::string>& more, const RunOptions& options) {
  const Folder folder;
  folder.write("mine.yaml", good);
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

// The command as a child that can be interrupted at a moment of the test's choosing. Its temporary files go below `in`.
class Running {
 public:
  Running(const std::vector<std::string>& arguments, const fs::path& in) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whom the command leaves behind becomes a child of this test
    child_ = fork();
    if (child_ == 0) become(arguments, in);
  }

  // False: it ended before that.
  bool wait_until(const std::function<bool()>& seen) const {
    while (!seen()) {
      siginfo_t ended{};
      if (waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
        return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::int64_t computed_ms() const {
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
  }

  int interrupted(int signal) const {
    kill(child_, signal);
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  [[noreturn]] static void become(const std::vector<std::string>& arguments, const fs::path& in) {
    if (chdir(in.c_str()) != 0) _exit(127);
    setenv("TMPDIR", in.c_str(), 1);
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, stream);
    std::string program = PDSIM_PROGRAM;
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv{program.data()};
    for (std::string& copy : copies) argv.push_back(copy.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  pid_t child_ = 0;
};

constexpr std::array signals{SIGINT, SIGTERM};

TEST(Endings, CtrlCEndsALongSimulationAtOnce) {
  for (const int signal : signals) {
    const Folder folder;
    folder.write("mine.yaml", R"(pdsim: 1
name: mine
summary: a training that takes minutes
world: {ranks: 2}
model: {layers: {a: {linear: [8, 8]}}}
program: [init, {train: {steps: 1000000}}]
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
program: [init, {recv: {peer: 1, count: 1}, when: {rank: 0}}, {recv: {peer: 0, count: 1}, when: {rank: 1}}]
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
  folder.write("mine.yaml", good);
  fs::create_directories(folder.path() / "out/mine/report.html");  // a folder stands where the file should be
  const Ended run = run_pdsim({"scenario", "mine.yaml", "--out", "out"}, folder.path());
  EXPECT_EQ(run.status, 4);
  EXPECT_NE(run.problems.find("cannot write"), std::string::npos) << run.problems;
  for (const std::string& name : folder.names()) EXPECT_EQ(name.find(".part"), std::string::npos) << name;
}

}  // namespace
}  // namespace pdsim::cli_tests
