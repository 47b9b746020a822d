// What plain logs prove: a log of each kind, and who is found.

#include "scenarios/reports/text/log_text.h"
#include "tests/unit/logs/log_samples.h"

#include <gtest/gtest.h>

namespace pdsim::scenarios::logs {
namespace {

TEST(LogDiagnosis, ARankThatEnqueuedLessNeverMadeTheCall) {
  const LogDiagnosis done =
      diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 12, 9) + watchdog(1, 10, "ALLREDUCE", 64, 12, 9) +
                dump_signal(2, 9, 9) + watchdog(3, 10, "ALLREDUCE", 64, 12, 9));
  EXPECT_EQ(found(done), "missing-call: 2 (waiting 0, 1, 3)");
  EXPECT_EQ(done.report.outcome, Outcome::deadlock);
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("rank 2: in default_pg had enqueued 9 and completed 9"), std::string::npos) << text;
  EXPECT_NE(text.find("what rank 2 did instead"), std::string::npos) << text;
  EXPECT_NE(text.find("`py-spy dump --pid PID` for rank 2"), std::string::npos) << text;
}

TEST(LogDiagnosis, OtherOperationsOrSizesAtOneNumberAreTold) {
  EXPECT_EQ(diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 10, 9) + watchdog(1, 10, "BROADCAST", 64, 10, 9))
                .report.diagnosis()
                ->id,
            "collective-mismatch");
  EXPECT_EQ(diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 10, 9) + watchdog(1, 10, "ALLREDUCE", 63, 10, 9))
                .report.diagnosis()
                ->id,
            "parameter-mismatch");
}

TEST(LogDiagnosis, RanksThatAreAllInOneCallProveNothingWhileTheirNumberIsUnknown) {
  const std::string log = watchdog(0, 10, "ALLREDUCE", 64, 10, 9) + watchdog(1, 10, "ALLREDUCE", 64, 10, 9);
  const LogDiagnosis unknown = diagnosed(log);
  EXPECT_EQ(found(unknown), "none");
  EXPECT_NE(render_logs(unknown.report, unknown.story).find("undecided: ranks 0, 1 waited in all_reduce #10"),
            std::string::npos);
  ASSERT_FALSE(unknown.story.open.empty());
  EXPECT_NE(unknown.story.open.front().find("how many ranks the job has"), std::string::npos);
  const LogDiagnosis all =
      diagnosed(log + "host:1:1 [0] NCCL INFO comm 0x5 rank 0 nranks 2 cudaDev 0 - Init COMPLETE\n");
  EXPECT_EQ(found(all).substr(0, 9), "all-stuck");
  const LogDiagnosis silent =
      diagnosed(log + "host:1:1 [0] NCCL INFO comm 0x5 rank 0 nranks 3 cudaDev 0 - Init COMPLETE\n");
  EXPECT_EQ(found(silent).substr(0, 17), "missing-record: 2");
}

std::string py_spy(int pid, const std::string& frames) {
  return "Process " + std::to_string(pid) + ": python3 train.py\nPython v3.11.2 (/usr/bin/python3.11)\n\nThread " + std::to_string(pid) +
         " (idle): \"MainThread\"\n" + frames + "    main (train.py:90)\n\n";
}

TEST(LogDiagnosis, StacksAloneSayWhichRanksAreInACallAndWhichAreElsewhere) {
  const std::string reducing = "    all_reduce (torch/distributed/distributed_c10d.py:2696)\n    wrapper (torch/distributed/c10d_logger.py:83)\n    step (train.py:40)\n";
  const std::string loading = "    read (data.py:7)\n    next_batch (data.py:33)\n";
  const LogDiagnosis apart = diagnose_logs(read_log_texts({{"rank_0.txt", py_spy(4242, reducing)}, {"rank_1.txt", py_spy(4243, loading)}}), "job");
  EXPECT_EQ(found(apart), "none");
  const std::string text = render_logs(apart.report, apart.story);
  EXPECT_NE(text.find("rank 0 was in all_reduce (train.py:40 in step)"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 1 was in no call of\ntorch.distributed (data.py:7 in read)"), std::string::npos) << text;
  EXPECT_NE(text.find("take the stacks once more"), std::string::npos) << text;
  const LogDiagnosis together = diagnose_logs(read_log_texts({{"rank_0.txt", py_spy(4242, reducing)}, {"rank_1.txt", py_spy(4243, reducing)}}), "job");
  EXPECT_TRUE(together.story.stacks.empty());
}

TEST(LogDiagnosis, SaysThatNoPeerOfAMessageIsInTheLog) {
  const LogDiagnosis done = diagnosed(watchdog(0, 10, "SEND", 64, 12, 9) + watchdog(1, 10, "RECV", 64, 12, 9));
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("does not print the peer"), std::string::npos) << text;
}

TEST(LogDiagnosis, SaysThatRanksOfAGroupAloneAreNoRanksOfTheJob) {
  const LogDiagnosis done = diagnosed(
      "[E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:1709] [PG ID 2 PG GUID 9(tp) Rank 1] Timeout at NCCL work: 7, last "
      "enqueued NCCL work: 8, last completed NCCL work: 6.\n");
  EXPECT_TRUE(done.report.findings.empty());
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("1 line says a rank within a group and none of the job"), std::string::npos) << text;
}

TEST(LogDiagnosis, AGroupIsTheOneThatTheNextLineNames) {
  std::string log;
  for (const int rank : {0, 2, 6})
    log += "[rank" + std::to_string(rank) + "]:[E318 07:39:53.792630246 ProcessGroupNCCL.cpp:616] [Rank " +
           std::to_string(rank) +
           "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7753, OpType=ALLREDUCE, NumelIn=8, "
           "NumelOut=8, "
           "Timeout(ms)=600000) ran for 600086 milliseconds before timing out.\n[rank" +
           std::to_string(rank) + "]:[E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:1709] [PG 1 Rank " +
           std::to_string(rank) +
           "] Timeout at NCCL work: 7753, last enqueued NCCL work: 7755, last completed NCCL work: 7752.\n";
  const LogFacts facts = facts_of(log);
  const LoggedGroups groups = groups_of(facts);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.begin()->first, "1");
  EXPECT_EQ(groups.begin()->second.ranks.at(6).enqueued, 7755);
  EXPECT_EQ(groups.begin()->second.ranks.at(6).timeouts.at(7753).timeout.op, "ALLREDUCE");
}

TEST(LogDiagnosis, ADesyncReportNamesTheRankThatIsBehind) {
  const LogDiagnosis done = diagnosed(
      "[rank0]:[E515 18:36:47.343377708 ProcessGroupNCCL.cpp:1937] Rank 0\n\t - [0] Timeout at collective: ALLREDUCE, "
      "#315\n\t - To our best "
      "knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n\t     [3] finished collective #182, "
      "but didn't join "
      "collective #183 (count from 1)\n\t - Snapshot of ranks' latest states:\n\t   #182 finished ranks:\n\t     [3] "
      "finished ALLREDUCE\n\t   "
      "#315 started ranks:\n\t     [0, 1] started ALLREDUCE\n\t   #317 started ranks:\n\t     [2] started "
      "_ALLGATHER_BASE\n");
  EXPECT_EQ(found(done), "missing-call: 3 (waiting 0, 1, 2)");
  ASSERT_EQ(done.report.diagnosis()->calls.size(), 2U);
  EXPECT_EQ(done.report.diagnosis()->calls.back().name, "all_gather");
  EXPECT_EQ(done.report.diagnosis()->calls.back().seq, 317);
}

TEST(LogDiagnosis, FingerprintsOfOneNumberMakeARecordAndOfTwoAFinding) {
  const auto error = [](int mine, int seq, const char* op, int theirs, int their_seq, const char* their_op) {
    return "[rank" + std::to_string(mine) + "]: RuntimeError: Detected mismatch between collectives on ranks. Rank " +
           std::to_string(mine) +
           " is running collective: CollectiveFingerPrint(SequenceNumber=" + std::to_string(seq) + ", OpType=" + op +
           ", TensorShape=[4, 2], TensorDtypes=Float, TensorDeviceTypes=TensorOptions(dtype=float (default))), but "
           "Rank " +
           std::to_string(theirs) +
           " is running collective: CollectiveFingerPrint(SequenceNumber=" + std::to_string(their_seq) +
           ", OpType=" + their_op + ").\n";
  };
  const LogDiagnosis same =
      diagnosed(error(0, 7, "ALLREDUCE", 1, 7, "BARRIER") + error(1, 7, "BARRIER", 0, 7, "ALLREDUCE") +
                error(2, 7, "ALLREDUCE", 1, 7, "BARRIER"));
  EXPECT_EQ(found(same).substr(0, 22), "collective-mismatch: 1") << found(same);
  const LogDiagnosis other = diagnosed(error(0, 1649, "BARRIER", 1, 0, "GATHER"));
  EXPECT_EQ(found(other).substr(0, 19), "collective-mismatch");
  EXPECT_NE(other.report.diagnosis()->headline.find("rank 0 called barrier #1649"), std::string::npos)
      << other.report.diagnosis()->headline;
}

TEST(LogDiagnosis, MonitoredBarrierNamesWhoDidNotCome) {
  EXPECT_EQ(
      found(diagnosed("[default0]:[rank0]: RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 2000 ms\n"
                      "[default2]:[rank2]: RuntimeError: Rank 2 successfully reached monitoredBarrier, but received "
                      "errors while waiting "
                      "for send/recv from rank 0. Please check rank 0 logs for faulty rank.\n")),
      "missing-call: 1 (waiting 0, 2)");
  EXPECT_EQ(found(diagnosed("RuntimeError: [Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 120000 ms\n")),
            "missing-call: 1, 2 (waiting 0)");
}

constexpr std::string_view launcher_table =
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "=====================================================\ntrain.py FAILED\n"
    "-----------------------------------------------------\nFailures:\n[1]:\n  time      : 2025-03-25_20:57:26\n  host "
    "     : node7\n"
    "  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 2628)\n  error_file: <N/A>\n"
    "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
    "-----------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
    "  time      : 2025-03-25_20:57:20\n  host      : node7\n  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: "
    "2630)\n"
    "  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 2630\n"
    "=====================================================\n";

TEST(LogDiagnosis, ThePeersOfAKilledRankAreNotAccused) {
  std::string log;
  for (const char* rank : {"[rank0]: ", "[rank1]: "})
    log += std::string(rank) + "Traceback (most recent call last):\n" + rank +
           "  File \"/job/train.py\", line 12, in step\n" + rank + "    loss.backward()\n" + rank +
           "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer " +
           "[10.0.0.3]:41234\n";
  const LogDiagnosis done = diagnosed(log + std::string(launcher_table));
  EXPECT_EQ(found(done).substr(0, 12), "rank-died: 2") << found(done);
  EXPECT_NE(done.report.diagnosis()->headline.find("died by signal 9"), std::string::npos);
  EXPECT_EQ(done.report.diagnosis()->headline.find("before its first call"), std::string::npos)
      << "a log keeps no calls";
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("rank 2: ended by signal 9 on node7; the launcher saw it fail first"), std::string::npos) << text;
  EXPECT_NE(text.find("out-of-memory killer on node7"), std::string::npos) << text;
}

TEST(LogDiagnosis, AnExceptionBeforeTheWatchdogIsTheCause) {
  const LogDiagnosis done = diagnosed(
      "[1,1]<stderr>:Traceback (most recent call last):\n[1,1]<stderr>:  File \"/job/train.py\", line 44, in "
      "forward\n[1,1]<stderr>:    x = "
      "self.big(x)\n[1,1]<stderr>:torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a "
      "total capacity of 79.11 "
      "GiB of which 1.56 GiB is free.\n[1,0]<stderr>:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=5, OpType=_ALLGATHER_BASE, NumelIn=6, NumelOut=12, Timeout(ms)=600000) ran for 600086 "
      "milliseconds before timing "
      "out.\n");
  EXPECT_EQ(found(done).substr(0, 12), "rank-died: 1") << found(done);
  EXPECT_NE(done.report.diagnosis()->headline.find("raised torch.OutOfMemoryError, at /job/train.py:44"),
            std::string::npos)
      << done.report.diagnosis()->headline;
}

constexpr std::string_view memory_line =
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.56 GiB is free.\n";

TEST(LogDiagnosis, ARankThatRanOutOfMemoryIsTheCauseWithoutATraceback) {
  const std::string waiting = watchdog(0, 10, "ALLREDUCE", 64, 12, 9) + watchdog(2, 10, "ALLREDUCE", 64, 12, 9);
  for (const std::string& before : {std::string("[rank1]: torch.cuda.OutOfMemoryError: "), std::string("[rank1]: WARNING: ")}) {
    const LogDiagnosis done = diagnosed(before + std::string(memory_line) + waiting);
    EXPECT_EQ(found(done), "rank-died: 1 (waiting 0, 2)");
    EXPECT_EQ(done.report.diagnosis()->headline, "ranks 0, 2 waited for rank 1, which ran out of GPU memory");
    const std::string text = render_logs(done.report, done.story);
    EXPECT_NE(text.find("rank 1: reports CUDA out of memory. Tried to allocate 2.00 GiB."), std::string::npos) << text;
  }
  const LogDiagnosis behind = diagnosed("[rank1]: " + std::string(memory_line) + waiting + dump_signal(1, 9, 9));
  EXPECT_EQ(found(behind).substr(0, 12), "rank-died: 1") << found(behind);
}

TEST(LogDiagnosis, AMemoryErrorThatTheRankSurvivedIsNotTheCause) {
  const std::string waiting = watchdog(0, 10, "ALLREDUCE", 64, 10, 9) + watchdog(2, 10, "ALLREDUCE", 64, 10, 9);
  const LogDiagnosis itself = diagnosed("[rank1]: " + std::string(memory_line) + waiting + watchdog(1, 10, "BROADCAST", 64, 10, 9));
  EXPECT_EQ(found(itself).substr(0, 19), "collective-mismatch") << found(itself);
  const LogDiagnosis long_before = diagnosed("[rank1]:[W1206 12:00:00.000000000 finder.cpp:1] " + std::string(memory_line) + waiting + dump_signal(1, 9, 9));
  EXPECT_EQ(found(long_before), "missing-call: 1 (waiting 0, 2)");
}

TEST(LogDiagnosis, AnExitCodeAloneIsNotCalledAnException) {
  const LogDiagnosis done = diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 12, 9) +
                                      "Root Cause (first observed failure):\n[0]:\n  time      : 2025-12-06_18:34:16\n  host      : node7\n"
                                      "  rank      : 1 (local_rank: 1)\n  exitcode  : 3 (pid: 77)\n"
                                      "=====================================================\n");
  EXPECT_EQ(found(done), "rank-died: 1 (waiting 0)");
  EXPECT_EQ(done.report.diagnosis()->headline, "rank 0 waited for rank 1, which ended with exit code 3");
}

TEST(LogDiagnosis, TheReducersListsNameTheParameters) {
  const LogDiagnosis unused = diagnosed(
      "[rank1]: making sure all `forward` function outputs participate in calculating loss. \n[rank1]: "
      "Parameter indices which did not receive grad for rank 1: 2 3\n");
  EXPECT_EQ(found(unused), "unused-parameters: 1 (waiting )");
  EXPECT_EQ(unused.report.diagnosis()->parameters, (std::vector<std::string>{"parameter 2", "parameter 3"}));
  const LogDiagnosis named = diagnosed("Parameters which did not receive grad for rank 0: head.bias, head.weight\n");
  EXPECT_EQ(named.report.diagnosis()->parameters, (std::vector<std::string>{"head.bias", "head.weight"}));
  const LogDiagnosis twice =
      diagnosed("[rank0]: Parameter at index 195 with name lora_B.weight has been marked as ready twice. This means\n");
  EXPECT_EQ(found(twice).substr(0, 18), "marked-ready-twice");
  EXPECT_EQ(twice.report.diagnosis()->parameters, (std::vector<std::string>{"lora_B.weight"}));
}

TEST(LogDiagnosis, AStackSaysWhereTheSilentRankWas) {
  const LogDiagnosis done = diagnosed(
      "0: starting\n2: [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, "
      "NumelIn=100, NumelOut=100, "
      "Timeout(ms)=1800000) ran for 1800866 milliseconds before timing out.\n1: [Rank 1] Watchdog caught collective "
      "operation timeout: "
      "WorkNCCL(SeqNum=77, OpType=ALLREDUCE, NumelIn=100, NumelOut=100, Timeout(ms)=1800000) ran for 1800866 "
      "milliseconds before timing "
      "out.\n0: Process 4711: python train.py\n0: Python v3.10.12 (/usr/bin/python3.10)\n0: \n0: Thread 4711 (idle): "
      "\"MainThread\"\n0:     read "
      "(json/__init__.py:293)\n0:     load_config (/home/me/train.py:88)\n0:     <module> (/home/me/train.py:120)\n0: "
      "\n");
  EXPECT_EQ(found(done), "missing-call: 0 (waiting 1, 2)");
  EXPECT_NE(done.report.diagnosis()->headline.find("which was in /home/me/train.py:88 in load_config"),
            std::string::npos)
      << done.report.diagnosis()->headline;
}

TEST(LogDiagnosis, AWatchdogThatStandsStillIsARankThatHung) {
  EXPECT_EQ(found(diagnosed("[rank1]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 1] [PG 0 Rank 1] ProcessGroupNCCL's "
                            "watchdog got stuck for 600 "
                            "seconds without making progress in monitoring enqueued collectives.\n"))
                .substr(0, 12),
            "rank-hung: 1");
}

TEST(LogDiagnosis, NamesAllMissingRanksOfAThousandAndMore) {
  std::string log = watchdog(0, 10, "ALLREDUCE", 64, 12, 9);
  for (int rank = 1; rank <= 1100; ++rank) log += dump_signal(rank, 9, 9);
  const LogDiagnosis done = diagnosed(log);
  EXPECT_EQ(done.report.diagnosis()->headline, "rank 0 waits in all_reduce #10, which only it called; ranks 1..1100 did not");
}

TEST(LogDiagnosis, SaysOfNobodyThatItCompletedACallThatNoLineProves) {
  const auto line = [](int rank, int seq) {
    const std::string all = watchdog(rank, seq, "ALLREDUCE", 64, seq, seq - 1);
    return all.substr(0, all.find('\n') + 1);  // the timeout alone
  };
  const LogDiagnosis unproven = diagnosed(line(0, 10) + line(1, 12) + line(2, 12));
  ASSERT_EQ(found(unproven), "hung-gpu: 0 (waiting 1, 2)");
  const std::string text = render_logs(unproven.report, unproven.story);
  EXPECT_EQ(text.find("completed"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 0 waits in all_reduce #10, and ranks 1, 2 wait in a later call, all_reduce"), std::string::npos)
      << text;
  const LogDiagnosis proven = diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 12, 9) + watchdog(1, 12, "ALLREDUCE", 64, 12, 11) +
                                        watchdog(2, 12, "ALLREDUCE", 64, 12, 11));
  EXPECT_EQ(proven.report.diagnosis()->headline, "rank 0 has not left all_reduce #10, which ranks 1, 2 have completed");
}

// As real NCCL left it, where rank 0 alone had called a barrier before: its number 18 was that, and the gradients came one later.
TEST(LogDiagnosis, SaysThatACallMoreBeforeLooksLikeAHungGpu) {
  const auto text = [](const LogDiagnosis& done) { return render_logs(done.report, done.story); };
  const std::string more = "or rank 0 made one call more before";
  const LogDiagnosis alike = diagnosed(watchdog(0, 19, "ALLREDUCE", 160, 19, 18) + watchdog(1, 18, "ALLREDUCE", 160, 18, 17));
  ASSERT_EQ(found(alike), "hung-gpu: 1 (waiting 0)");
  EXPECT_NE(text(alike).find(more), std::string::npos) << text(alike);
  const LogDiagnosis different = diagnosed(watchdog(0, 19, "ALLREDUCE", 80, 19, 18) + watchdog(1, 18, "ALLREDUCE", 160, 18, 17));
  EXPECT_EQ(text(different).find(more), std::string::npos) << text(different);
}

TEST(LogDiagnosis, TellsNoSizeOfTheJobThatNoLineTells) {
  const LogDiagnosis done = diagnosed(watchdog(0, 10, "ALLREDUCE", 64, 10, 9) + watchdog(2, 10, "ALLREDUCE", 64, 10, 9));
  EXPECT_EQ(render_logs(done.report, done.story).substr(0, 29), "job.log   names ranks up to 2");
}

TEST(LogDiagnosis, AWarningOfNcclThatNamesACauseIsTheFinding) {
  const LogDiagnosis done = diagnosed(
      "node2:25146:25854 [0] ib_plugin.c:1105 NCCL WARN NET/IB : Got completion from peer 10.0.35.1<49189> with error 12, opcode 0, len 0, vendor err 129\n"
      "node2:25146:25852 [0] NCCL INFO [Service thread] Connection closed by localRank 0\n");
  EXPECT_EQ(found(done), "connection-lost:  (waiting )");
  EXPECT_EQ(done.report.diagnosis()->headline,
            "NCCL on node2 (GPU 0) warned: NET/IB : Got completion from peer 10.0.35.1<49189> with error 12, opcode 0, len 0, vendor err 129");
  EXPECT_NE(render_logs(done.report, done.story).find("local rank 0 of node2 closed its connections"), std::string::npos);
  EXPECT_EQ(found(diagnosed("[rank3]: [2026-11-01 10:00:00] c1:77:78 [3] shm.cc:12 NCCL WARN Error while creating shared memory segment "
                            "/dev/shm/nccl-7Qq4Rt (size 9637888)\n")),
            "shared-memory-small: 3 (waiting )");
}

// As two ranks on one H100 printed it (NCCL 2.28.9).
TEST(LogDiagnosis, AWarningOfNcclAccusesTheRanksWhoseExceptionsRepeatIt) {
  std::string log;
  for (const std::string ranks : {"rank 1 and rank 0", "rank 0 and rank 1"})
    log += "[2026-11-26 13:59:29] vm:866:866 [0] init.cc:904 NCCL WARN Duplicate GPU detected : " + ranks + " both on CUDA device 60\n";
  for (const std::string rank : {"[rank0]: ", "[rank1]: "})
    log += rank + "Traceback (most recent call last):\n" + rank + "  File \"/job.py\", line 28, in <module>\n" + rank + "    dist.all_reduce(t)\n" + rank +
           "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:93, invalid usage (run with NCCL_DEBUG=WARN for details), NCCL version 2.28.9\n" +
           rank + "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n" + rank +
           "Last error:\n" + rank + "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60\n";
  EXPECT_EQ(found(diagnosed(log)), "device-shared: 0, 1 (waiting )");
}

TEST(LogDiagnosis, AConnectionThatAPeerClosedIsAConsequenceInNcclsWarningsToo) {
  const LogDiagnosis done =
      diagnosed("a1:183006:183220 [1] misc/socket.cc:538 NCCL WARN Net : Connection closed by remote peer a2<47861>\n");
  EXPECT_EQ(found(done), "none");
  EXPECT_NE(render_logs(done.report, done.story).find("NCCL on a1 (GPU 1) warns: Net : Connection closed by remote peer a2<47861>"),
            std::string::npos);
}

TEST(LogDiagnosis, OfAJobThatEndedWellNothingIsAskedFor) {
  const LogDiagnosis done = diagnosed("host:1:1 [0] NCCL INFO comm 0x5 rank 0 nranks 2 cudaDev 0 - Init COMPLETE\n");
  EXPECT_EQ(render_logs(done.report, done.story), "job.log   2 ranks\n\nnothing to explain\n");
}

TEST(LogDiagnosis, OnlyConsequencesAreUndecided) {
  const LogDiagnosis done =
      diagnosed("[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.3]:41234\n");
  EXPECT_EQ(found(done), "none");
  EXPECT_NE(render_logs(done.report, done.story).find("undecided: "), std::string::npos);
}

}  // namespace
}  // namespace pdsim::scenarios::logs
