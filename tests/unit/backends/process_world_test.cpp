#include "backends/process/process_world.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;
namespace fs = std::filesystem;

// Gives each test a temporary folder of its own, and holds at its end that neither files nor processes are left.
class ProcessWorld : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "process-world-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(folder_)) << "files were left behind";
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    std::string left;
    std::getline(children, left);
    EXPECT_EQ(left, "") << "processes were left behind";
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  static ProcessWorldOptions options(int ranks, std::vector<std::string> words) {
    ProcessWorldOptions o;
    o.ranks = ranks;
    o.command = {PDSIM_RANK_PROCESS};
    o.command.insert(o.command.end(), words.begin(), words.end());
    o.patience = 300_ms;
    o.answer_within = 200_ms;
    return o;
  }
  static ProcessWorldResult run(const ProcessWorldOptions& o) {
    Result<ProcessWorldResult> result = run_process_world(o);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? std::move(*result) : ProcessWorldResult{};
  }

  std::string folder_;
};

TEST_F(ProcessWorld, CollectsEveryRecordWhenAllReturn) {
  const ProcessWorldResult result = run(options(3, {"return"}));
  EXPECT_FALSE(result.deadlocked);
  ASSERT_EQ(result.ranks.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(result.ranks[r].record, "record of rank " + std::to_string(r));
    EXPECT_TRUE(result.ranks[r].finished);
    ASSERT_TRUE(result.ranks[r].ended.has_value());
    EXPECT_EQ(result.ranks[r].ended->exit_status, 0);
  }
}

TEST_F(ProcessWorld, ARankThatHangsIsADeadlockAndStillGivesItsRecord) {
  const ProcessWorldResult result = run(options(2, {"hang", "1"}));
  EXPECT_TRUE(result.deadlocked);
  EXPECT_TRUE(result.ranks[0].finished);
  EXPECT_FALSE(result.ranks[1].finished);
  EXPECT_TRUE(result.ranks[1].answered);
  EXPECT_EQ(result.ranks[1].record, "record of rank 1, asked");
  EXPECT_FALSE(result.ranks[1].ended.has_value());
  EXPECT_LT(result.deadlock_at, result.elapsed);
}

TEST_F(ProcessWorld, HasTheRecordRingOfEveryRankWithoutALastWord) {
  for (const char* end : {"kill", "abort", "stop", "hang"}) {
    const ProcessWorldResult result = run(options(2, {end, "1"}));
    ASSERT_EQ(result.ranks.size(), 2U);
    EXPECT_FALSE(result.ranks[0].ring.has_value()) << end;
    ASSERT_TRUE(result.ranks[1].ring.has_value()) << end;
    const RingRecord& ring = *result.ranks[1].ring;
    EXPECT_EQ(ring.log.rank, 1);
    ASSERT_EQ(ring.log.calls.size(), 1U) << end;
    EXPECT_EQ(ring.log.calls[0].name, "all_reduce");
    EXPECT_EQ(ring.torn, 0);
  }
}

TEST_F(ProcessWorld, ARankThatIsKilledIsNoticedWithItsSignal) {
  const ProcessWorldResult result = run(options(2, {"kill", "0"}));
  EXPECT_FALSE(result.deadlocked);
  EXPECT_FALSE(result.ranks[0].finished);
  ASSERT_TRUE(result.ranks[0].ended.has_value());
  EXPECT_EQ(result.ranks[0].ended->signal, SIGKILL);
  EXPECT_TRUE(result.ranks[1].finished);
}

TEST_F(ProcessWorld, AStoppedRankDoesNotAnswerAndIsCalledStopped) {
  const ProcessWorldResult result = run(options(2, {"stop", "1"}));
  EXPECT_TRUE(result.deadlocked);
  EXPECT_FALSE(result.ranks[1].answered);
  EXPECT_TRUE(result.ranks[1].stopped);
}

TEST_F(ProcessWorld, AnExitStatusIsReported) {
  const ProcessWorldResult result = run(options(2, {"exit", "7"}));
  ASSERT_TRUE(result.ranks[0].ended.has_value());
  EXPECT_EQ(result.ranks[0].ended->exit_status, 7);
  EXPECT_FALSE(result.ranks[0].finished);
}

TEST_F(ProcessWorld, WhatRanksPrintIsKeptApart) {
  const ProcessWorldResult result = run(options(2, {"print"}));
  EXPECT_EQ(result.ranks[1].output, "rank 1 speaks\n");
}

TEST_F(ProcessWorld, FilesOutliveARelaunch) {
  const ProcessWorldResult result = run(options(2, {"relaunch"}));
  ASSERT_EQ(result.earlier.size(), 2U);
  EXPECT_EQ(result.earlier[0].launch, 1);
  EXPECT_EQ(result.earlier[0].relaunch, Relaunch::unclean);
  EXPECT_EQ(result.ranks[1].launch, 2);
  EXPECT_EQ(result.ranks[1].record, "record of rank 1: written in launch 1");
}

TEST_F(ProcessWorld, AProgramThatNeverComesUpIsUnavailable) {
  ProcessWorldOptions o = options(2, {"mute"});
  o.start_within = 300_ms;
  const Result<ProcessWorldResult> result = run_process_world(o);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::unavailable);
}

TEST_F(ProcessWorld, AProgramThatCannotBeStartedExitsWith127) {
  ProcessWorldOptions o = options(1, {});
  o.command = {"/no/such/program"};
  const ProcessWorldResult result = run(o);
  ASSERT_TRUE(result.ranks[0].ended.has_value());
  EXPECT_EQ(result.ranks[0].ended->exit_status, 127);
}

volatile std::sig_atomic_t interrupts = 0;  // a signal handler reaches nothing else

TEST_F(ProcessWorld, AnInterruptEndsTheRunAndIsRaisedAgain) {
  struct sigaction count {};
  count.sa_handler = [](int) { interrupts = interrupts + 1; };
  struct sigaction former {};
  sigaction(SIGINT, &count, &former);
  ProcessWorldOptions o = options(2, {"interrupt", "0"});
  o.patience = 20_s;
  const Result<ProcessWorldResult> result = run_process_world(o);
  sigaction(SIGINT, &former, nullptr);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::cancelled);
  EXPECT_EQ(interrupts, 1);
}

TEST(RankChannel, RefusesAProcessThatNoLauncherStarted) {
  EXPECT_FALSE(rank_start_of("not numbers").ok());
  RankStart start{1, 4, 2, 300_ms, 4711, std::chrono::steady_clock::now(), "/some folder/x"};
  start.store_secret = Secret::random().value();
  const Result<RankStart> back = rank_start_of(text_of(start));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->rank, 1);
  EXPECT_EQ(back->store_port, 4711);
  EXPECT_EQ(back->epoch, start.epoch);
  EXPECT_EQ(back->work_dir, "/some folder/x");
  EXPECT_TRUE(back->request.empty());
}

}  // namespace
}  // namespace pdsim
