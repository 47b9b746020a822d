// Logs as people paste them: parts of a job's, of launchers and batch systems, of several versions.

#include "tests/unit/logs/log_samples.h"

#include "scenarios/records/logs/log_reader.h"
#include "scenarios/reports/text/log_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pdsim::scenarios::logs {
namespace {

std::string words_of(const LogDiagnosis& done) {
  std::string words;
  for (const char c : render_logs(done.report, done.story))
    if (c != ' ' && c != '\n') {
      words += c;
    } else if (!words.empty() && words.back() != ' ') {
      words += ' ';
    }
  return words;
}

bool says(const LogDiagnosis& done, const std::string& words) { return words_of(done).find(words) != std::string::npos; }

std::string waits(int rank) { return watchdog(rank, 808, "ALLREDUCE", 1000, 811, 807); }

TEST(Excerpts, OfFewRanksAccuseNoneThatIsSilent) {
  EXPECT_EQ(found(diagnosed(waits(118))), "none");
  EXPECT_EQ(found(diagnosed(waits(0) + waits(7))), "none");
  EXPECT_EQ(found(diagnosed(waits(0) + waits(3) + waits(4))), "none");
  EXPECT_TRUE(says(diagnosed(waits(0) + waits(7)), "undecided: ranks 0, 7 waited in all_reduce #808 of group default_pg"));
  EXPECT_EQ(found(diagnosed(waits(0) + waits(1) + waits(3))), "missing-record: 2 (waiting 0, 1, 3)");
}

TEST(Excerpts, SayInWhichCallAllWaitedAlsoWhereTheirClocksDiffer) {
  std::string log;
  for (int rank = 0; rank < 3; ++rank)
    log += fmt::format(
        "[rank{0}]:[E626 06:24:44.9038{1}1913 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=9801523, NumelOut=9801523, Timeout(ms)=600000) ran for {2} milliseconds before timing "
        "out.\n[rank{0}]:[E626 06:24:44.906457629 ProcessGroupNCCL.cpp:1785] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Exception (either an error "
        "or timeout) detected by watchdog at work: 808, last enqueued NCCL work: 811, last completed NCCL work: 807.\n",
        rank, rank, 600000 + rank * 10);
  EXPECT_TRUE(says(diagnosed(log), "undecided: ranks 0..2 waited in all_reduce #808")) << words_of(diagnosed(log));
}

std::string signal_line(int rank, const std::string& source, int enqueued, int completed) {
  return fmt::format(
      "[rank{0}]:[E1128 21:11:49.041194513 ProcessGroupNCCL.cpp:1870] [PG ID 0 PG GUID 0(default_pg) Rank {0}] Received a dump signal due to a "
      "collective timeout from {1} and we will try our best to dump the debug info. Last enqueued NCCL work: {2}, last completed NCCL work: "
      "{3}.This is most likely caused by incorrect usages of collectives\n",
      rank, source, enqueued, completed);
}

TEST(Excerpts, OfDumpSignalsAloneNameTheRankThatCalledLess) {
  std::string log = signal_line(0, " rank 2", 21, 21);
  for (int rank = 1; rank < 4; ++rank) log += signal_line(rank, "this local rank", 22, 21);
  EXPECT_EQ(found(diagnosed(log)), "missing-call: 0 (waiting 1, 2, 3)");
}

TEST(Excerpts, DoNotAccuseARankWhoseTimeoutAnotherOneReports) {
  const std::string log = watchdog(0, 22, "ALLREDUCE", 1, 22, 21) + watchdog(1, 22, "ALLREDUCE", 1, 22, 21) + signal_line(2, " rank 3", 21, 21) +
                          "[rank3]: Epoch 3\n";
  EXPECT_EQ(found(diagnosed(log)), "missing-call: 2 (waiting 0, 1, 3)");
}

TEST(Excerpts, SayNothingOfACallOfARankThatOthersNameDifferently) {
  const LogDiagnosis done = diagnosed(watchdog(2, 7219, "BROADCAST", 24084544, 7221, 7218) + watchdog(3, 7219, "BROADCAST", 64, 7221, 7218) +
                                      watchdog(0, 7221, "ALLREDUCE", 10, 7221, 7220));
  ASSERT_NE(done.report.diagnosis(), nullptr);
  EXPECT_EQ(done.report.diagnosis()->headline.find("rank 0"), std::string::npos) << done.report.diagnosis()->headline;
  EXPECT_EQ(done.report.diagnosis()->headline.find("ranks 0"), std::string::npos) << done.report.diagnosis()->headline;
}

TEST(Excerpts, KnowThatATimeoutWithAnotherRankOfItsGroupIsOfAGroupOfSome) {
  const LogDiagnosis done = diagnosed(
      "[rank97]:[E323 05:14:22.517801495 ProcessGroupNCCL.cpp:683] [Rank 6] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, "
      "OpType=COALESCED, NumelIn=0, NumelOut=0, Timeout(ms)=600000) ran for 651421 milliseconds before timing out.\n");
  EXPECT_EQ(found(done), "none");
  EXPECT_TRUE(says(done, "rank 97: waited in coalesced #1 of a group that the log does not name")) << words_of(done);
  EXPECT_FALSE(says(done, "default_pg")) << words_of(done);
}

TEST(Excerpts, OfAnExceptionThatEndedTheProcessAreRead) {
  const LogDiagnosis done = diagnosed(
      "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG 0 Rank 5] Process group watchdog thread terminated "
      "with exception: [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9141, OpType=_ALLGATHER_BASE, NumelIn=19008, "
      "NumelOut=152064, Timeout(ms)=600000) ran for 600020 milliseconds before timing out.\n");
  EXPECT_TRUE(says(done, "rank 5: waited in all_gather #9141")) << words_of(done);
}

TEST(Excerpts, NameTheRankWhoseDeviceFailed) {
  std::string log = "[rank3]:[E1206 18:34:15.1 ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0(default_pg) Rank 3] Process group watchdog thread "
                    "terminated with exception: CUDA error: an illegal memory access was encountered\n";
  for (int rank = 0; rank < 3; ++rank) log += waits(rank);
  const LogDiagnosis done = diagnosed(log);
  EXPECT_EQ(found(done), "rank-died: 3 (waiting 0, 1, 2)");
  EXPECT_TRUE(says(done, "rank 3 raised CUDA error: an illegal memory access was encountered")) << words_of(done);
}

TEST(Excerpts, AWatchdogThatStopsAfterOthersWaitIsNoCause) {
  EXPECT_EQ(found(diagnosed(
                "[rank2]:[E626 05:06:30.929096625 ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective operation timeout: "
                "WorkNCCL(SeqNum=120049, OpType=_ALLGATHER_BASE, NumelIn=16384000, NumelOut=131072000, Timeout(ms)=1800000) ran for 1800065 "
                "milliseconds before timing out.\n[rank7]:[E626 05:14:36.393067540 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank "
                "7] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress in monitoring enqueued collectives.\n")),
            "none");
}

TEST(Excerpts, CountAParameterOnceThatTwoLinesNameAndNumber) {
  const LogDiagnosis done = diagnosed(
      "[rank3]: Parameters which did not receive grad for rank 3: mask.bias, mask.weight\n"
      "[rank3]: Parameter indices which did not receive grad for rank 3: 282 283\n");
  EXPECT_EQ(done.report.diagnosis()->parameters, (std::vector<std::string>{"mask.bias", "mask.weight"}));
}

TEST(Excerpts, OfLaunchersNameTheProcessThatEnded) {
  EXPECT_EQ(found(diagnosed("ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: "
                            "/usr/bin/python\n")),
            "rank-died: 3 (waiting )");
  const LogDiagnosis deepspeed = diagnosed(
      "[2023-04-14 13:11:27,885] [ERROR] [launch.py:434:sigkill_handler] ['/usr/bin/python3', '-u', 'main.py', '--local_rank=1'] exits with return "
      "code = -9\n");
  EXPECT_EQ(found(deepspeed), "rank-died:  (waiting )");
  EXPECT_TRUE(says(deepspeed, "a process of the job: ended by signal 9")) << words_of(deepspeed);
  EXPECT_TRUE(says(deepspeed, "which rank the process that ended was")) << words_of(deepspeed);
}

// The process's number says that they are one, also where a node's local rank is not the rank of the job.
TEST(Excerpts, ALauncherTableSaysWhichRankALocalRankIs) {
  const LogDiagnosis done = diagnosed(
      "E0521 15:43:03.900000 14740 site-packages/torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 3 (pid: "
      "5003) of binary: /usr/bin/python\nFailures:\n------------------------------------------------------------\nRoot Cause (first observed "
      "failure):\n[0]:\n  time      : 2025-05-21_15:43:03\n  host      : node1\n  rank      : 11 (local_rank: 3)\n  exitcode  : 1 (pid: 5003)\n  "
      "error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html\n"
      "============================================================\n");
  EXPECT_EQ(found(done), "rank-died: 11 (waiting )");
}

TEST(Excerpts, OfSlurmAndTheKernelSayThatMemoryRanOut) {
  const LogDiagnosis slurm = diagnosed("srun: error: gpu20-15: task 0: Out Of Memory\nsrun: launch/slurm: _step_signal: Terminating StepId=9411285.0\n");
  EXPECT_EQ(found(slurm), "rank-died:  (waiting )");
  EXPECT_TRUE(says(slurm, "Slurm's task 0: killed because memory ran out on gpu20-15")) << words_of(slurm);
  const LogDiagnosis kernel = diagnosed(
      "[Sat Dec  6 18:34:11 2025] Out of memory: Killed process 5003 (python) total-vm:210000000kB\n" + waits(0) + waits(1) + waits(2));
  EXPECT_TRUE(says(kernel, "process 5003: killed because memory ran out")) << words_of(kernel);
}

TEST(Excerpts, SayWhoCancelledTheJob) {
  const LogDiagnosis done = diagnosed(
      "slurmstepd: error: *** JOB 123456 ON node1 CANCELLED AT 2025-12-06T18:44:20 DUE TO TIME LIMIT ***\n");
  EXPECT_EQ(found(done), "none");
  EXPECT_TRUE(says(done, "the job was ended by Slurm, at its time limit")) << words_of(done);
}

TEST(Excerpts, MayBeginWithTheValuesThatATrainerPrints) {
  EXPECT_TRUE(looks_like_log("{'loss': 0.9, 'epoch': 0.4}\n[rank0]: hello\n"));
  EXPECT_TRUE(looks_like_log("{\"loss\": 0.9}\nRuntimeError: no\n"));
  EXPECT_FALSE(looks_like_log("{\"event\":\"run\"}\nno\n"));
  EXPECT_FALSE(looks_like_log("{\n  \"entries\": []\n}\n"));
}

}  // namespace
}  // namespace pdsim::scenarios::logs
