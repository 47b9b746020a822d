// Ranks of groups in logs: which of the job they are, and that nobody is named where the log does not tell.

#include "scenarios/records/logs/group_ranks.h"

#include "scenarios/reports/text/log_text.h"
#include "tests/unit/logs/log_samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pdsim::scenarios::logs {
namespace {

std::string text_of(const LogDiagnosis& done) { return render_logs(done.report, done.story); }

TEST(GroupRanks, AreInTheOrderOfTheJobsRanks) {
  GroupRanks ranks;
  ranks.add(0, 4);
  ranks.add(2, 6);
  ranks.add(4, 9);
  EXPECT_EQ(ranks.global(1), 5);
  EXPECT_EQ(ranks.global(3), std::nullopt) << "7 or 8";
  EXPECT_EQ(ranks.global(5), std::nullopt);
  EXPECT_FALSE(ranks.may_be_whole_job());
  EXPECT_EQ(ranks.proven_members(), (std::vector<Rank>{4, 5, 6, 9}));
  GroupRanks job;
  job.add(3, 3);
  EXPECT_EQ(job.global(1), 1) << "rank 3 of the group is rank 3 of the job, so the lower ones are as well";
  EXPECT_TRUE(job.may_be_whole_job());
  EXPECT_EQ(job.global(4), std::nullopt);
}

TEST(GroupRanks, OfTwoGroupsWithOneNameProveNothing) {
  for (const auto& [rank, of_job] : {std::pair<Rank, Rank>{0, 1}, {2, 0}, {1, 9}}) {
    GroupRanks ranks;
    ranks.add(0, 0);
    ranks.add(2, 8);
    ranks.add(rank, of_job);
    EXPECT_FALSE(ranks.is_one_group()) << rank << " " << of_job;
    EXPECT_EQ(ranks.global(0), std::nullopt);
  }
}

std::string progress(int rank, int guid, int in_group, int enqueued, int completed) {
  return fmt::format(
      "[rank{}]:[E1206 18:44:17.000000000 ProcessGroupNCCL.cpp:1746] [PG ID 1 PG GUID {}(mesh_tp) Rank {}] Received a dump signal due to "
      "a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: {}, last completed "
      "NCCL work: {}.\n",
      rank, guid, in_group, enqueued, completed);
}

std::string timeout(int rank, int guid, int in_group, int seq) {
  return fmt::format(
      "[rank{0}]:[E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:616] [Rank {2}] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum={3}, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600086 milliseconds before timing "
      "out.\n[rank{0}]:[E1206 18:44:16.995042142 ProcessGroupNCCL.cpp:1834] [PG ID 1 PG GUID {1}(mesh_tp) Rank {2}] Timeout at NCCL "
      "work: {3}, last enqueued NCCL work: {3}, last completed NCCL work: {4}.\n",
      rank, guid, in_group, seq, seq - 1);
}

TEST(LogsOfSubgroups, GroupsThatAreDescribedAlikeAreNotOneGroup) {
  const LogDiagnosis done =
      diagnosed(timeout(4, 7, 0, 10) + progress(5, 7, 1, 9, 9) + progress(2, 6, 0, 4, 4) + progress(3, 6, 1, 4, 4));
  EXPECT_EQ(found(done), "missing-call: 5 (waiting 4)");
  EXPECT_NE(text_of(done).find("ranks 2, 3: in mesh_tp 6 had enqueued 4"), std::string::npos) << text_of(done);
}

TEST(LogsOfSubgroups, ARankBetweenTwoThatPrintIsKnownToMissTheCall) {
  const LogDiagnosis done = diagnosed(timeout(4, 7, 0, 10) + timeout(6, 7, 2, 10));
  EXPECT_EQ(text_of(done).find("rank 1 "), std::string::npos) << text_of(done);
  EXPECT_EQ(found(done), "missing-record: 5 (waiting 4, 6)");
}

TEST(LogsOfSubgroups, TheSizeOfACommunicatorOfAGroupIsNotThatOfTheJob) {
  const LogDiagnosis done = diagnosed(timeout(0, 7, 0, 10) + timeout(1, 7, 1, 10) +
                                      "host:1:1 [0] NCCL INFO comm 0x5 rank 0 nranks 2 cudaDev 0 - Init COMPLETE\n");
  EXPECT_EQ(found(done), "none");
  EXPECT_FALSE(done.story.knows_size);
}

TEST(LogsOfSubgroups, MonitoredBarrierNamesRanksOfTheJobAsFarAsTheyAreProven) {
  const std::string missed = "[rank4]: RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 2000 ms\n";
  const LogDiagnosis proven = diagnosed(
      missed + "[rank6]: RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while waiting for send/recv "
               "from rank 0. Please check rank 0 logs for faulty rank.\n");
  EXPECT_EQ(found(proven), "missing-call: 5 (waiting 4, 6)");
  EXPECT_NE(text_of(proven).find("its exchange with rank 4 failed"), std::string::npos) << text_of(proven);
  const LogDiagnosis open = diagnosed(missed);
  EXPECT_EQ(found(open), "missing-call:  (waiting 4)");
  EXPECT_EQ(open.report.diagnosis()->headline,
            "rank 4 waited in monitored_barrier for rank 1 of the group, which did not come within 2000ms");
}

TEST(LogsOfSubgroups, FingerprintsAndReducersNameRanksOfTheJob) {
  const auto error = [](int rank, int mine, const char* op, int theirs, const char* their_op) {
    return fmt::format(
        "[rank{}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=7, OpType={}), but Rank {} is running collective: CollectiveFingerPrint("
        "SequenceNumber=7, OpType={}).\n",
        rank, mine, op, theirs, their_op);
  };
  const LogDiagnosis open = diagnosed(error(4, 0, "ALLREDUCE", 1, "BARRIER"));
  EXPECT_EQ(open.report.diagnosis()->headline, "rank 4 called all_reduce #7, rank 1 of the group called barrier #7, and they met");
  const LogDiagnosis both = diagnosed(error(4, 0, "ALLREDUCE", 1, "BARRIER") + error(6, 1, "BARRIER", 0, "ALLREDUCE"));
  EXPECT_NE(both.report.diagnosis()->headline.find("rank 6 called barrier #7"), std::string::npos)
      << both.report.diagnosis()->headline;
  EXPECT_EQ(found(diagnosed("[rank6]: Parameter indices which did not receive grad for rank 1: 2 3\n")),
            "unused-parameters: 6 (waiting )");
}

TEST(LogsOfSubgroups, NobodyIsAccusedWhereSeveralGroupsHaveOneName) {
  std::string log;
  for (const auto& [rank, seq] : {std::pair{0, 2}, {1, 1}})
    log += fmt::format(
        "[rank{0}]:[E820 11:47:24.069865760 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum={1}, OpType=_ALLGATHER_BASE, NumelIn=1, NumelOut=2, Timeout(ms)=600000) ran for 600001 milliseconds before "
        "timing out.\n[rank{0}]:[E820 11:47:24.070046070 ProcessGroupNCCL.cpp:1664] [PG 1 Rank 0] Exception (either an error or "
        "timeout) detected by watchdog at work: {1}, last enqueued NCCL work: {2}, last completed NCCL work: {3}.\n",
        rank, seq, seq + 1, seq - 1);
  const LogDiagnosis done = diagnosed(log);
  EXPECT_EQ(found(done), "none");
  EXPECT_NE(text_of(done).find("which of ranks 0, 1 share a group"), std::string::npos) << text_of(done);
}

TEST(LogsOfSubgroups, ALogThatNamesNoGroupSaysThatItMayNotBeTheJob) {
  const LogDiagnosis done = diagnosed("RuntimeError: [Rank 0]: Rank 1 failed to pass monitoredBarrier in 2000 ms\n");
  EXPECT_EQ(found(done), "missing-call: 1 (waiting 0)");
  EXPECT_NE(text_of(done).find("whether the group is the whole job"), std::string::npos) << text_of(done);
}

}  // namespace
}  // namespace pdsim::scenarios::logs
