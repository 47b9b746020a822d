// `pdsim diagnose` over plain logs: how they are found, put together, and what of them cannot be read.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

std::string log_of_waiting(int rank) {
  const std::string r = std::to_string(rank);
  return "[E1206 18:44:16.994932383 ProcessGroupNCCL.cpp:616] [Rank " + r +
         "] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=10, OpType=ALLREDUCE, NumelIn=64, "
         "NumelOut=64, "
         "Timeout(ms)=600000) ran for 600086 milliseconds before timing out.\n[E1206 18:44:16.995 "
         "ProcessGroupNCCL.cpp:1834] [PG ID 0 PG "
         "GUID 0(default_pg) Rank " +
         r + "] Timeout at NCCL work: 10, last enqueued NCCL work: 12, last completed NCCL work: 9.\n";
}

std::string log_of_behind(int rank) {
  return "[E1206 18:44:17.0 ProcessGroupNCCL.cpp:1746] [PG ID 0 PG GUID 0(default_pg) Rank " + std::to_string(rank) +
         "] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug "
         "info. Last enqueued "
         "NCCL work: 9, last completed NCCL work: 9.\n";
}

constexpr const char* log_accuses_rank_2 =
    "deadlock[missing-call]: ranks 0, 1, 3 wait in all_reduce #10 for rank 2, which has not called";

TEST(DiagnoseLogs, ReadsAMixedLogAndAFileOfEachRankAlike) {
  const Folder folder;
  folder.write("job.log", log_of_waiting(0) + log_of_waiting(1) + log_of_behind(2) + log_of_waiting(3));
  const Ended mixed = run_pdsim({"diagnose", "job.log"}, folder.path());
  EXPECT_EQ(mixed.status, 0) << mixed.problems;
  EXPECT_NE(mixed.output.find(log_accuses_rank_2), std::string::npos) << mixed.output;
  fs::create_directory(folder.path() / "ranks");
  for (const int rank : {0, 1, 3}) folder.write("ranks/rank_" + std::to_string(rank) + ".log", log_of_waiting(rank));
  folder.write("ranks/rank_2.log", log_of_behind(2));
  const Ended apart = run_pdsim({"diagnose", "ranks"}, folder.path());
  EXPECT_EQ(apart.status, 0) << apart.problems;
  EXPECT_NE(apart.output.find(log_accuses_rank_2), std::string::npos) << apart.output;
}

TEST(DiagnoseLogs, NamesTheTablesOfPyTorchsAnalyserAndReadsTheRest) {
  const Folder folder;
  folder.write("fr_trace_20260101.txt",
               "=== FR Trace ===\n--- Groups ---\n  id  desc\n   0  default_pg\n--- NCCL Calls ---\n");
  const Ended alone = run_pdsim({"diagnose", "fr_trace_20260101.txt"}, folder.path());
  EXPECT_EQ(alone.status, 2);
  EXPECT_NE(alone.problems.find("tables of PyTorch's own analyser"), std::string::npos) << alone.problems;
  folder.write("job.log", log_of_waiting(0) + log_of_waiting(1) + log_of_behind(2) + log_of_waiting(3));
  const Ended both = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(both.status, 2);
  EXPECT_NE(both.output.find(log_accuses_rank_2), std::string::npos) << both.output;
}

TEST(DiagnoseLogs, TakesTheOnlyExceptionOfAJobForItsCause) {
  const Folder folder;
  folder.write("job.log",
               "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"train.py\", line 10, in <module>\n"
               "[rank0]:     raise KeyError('lr')\n[rank0]: KeyError: 'lr'\n"
               "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"train.py\", line 9, in <module>\n"
               "[rank1]:     get(k)\n[rank1]: torch.distributed.DistNetworkError: failed to recv, got 0 bytes\n");
  const Ended run = run_pdsim({"diagnose", "--json", "job.log"}, folder.path());
  const nlohmann::json found = nlohmann::json::parse(run.output).at("findings");
  ASSERT_EQ(found.size(), 1U) << run.output;
  EXPECT_EQ(found.at(0).at("id"), "rank-died");
  EXPECT_EQ(found.at(0).at("culprits"), nlohmann::json({0}));
}

TEST(DiagnoseLogs, PrintsTheFindingsAsJson) {
  const Folder folder;
  folder.write("job.log", log_of_waiting(0) + log_of_waiting(1) + log_of_behind(2) + log_of_waiting(3));
  const Ended run = run_pdsim({"diagnose", "--json", "job.log"}, folder.path());
  const nlohmann::json found = nlohmann::json::parse(run.output).at("findings");
  ASSERT_EQ(found.size(), 1U) << run.output;
  EXPECT_EQ(found.at(0).at("id"), "missing-call");
  EXPECT_EQ(found.at(0).at("culprits"), nlohmann::json({2}));
  EXPECT_EQ(found.at(0).at("waiting"), nlohmann::json({0, 1, 3}));
}

TEST(DiagnoseLogs, SaysInOneLineWhenALogSaysNothing) {
  const Folder folder;
  folder.write("job.log", "epoch 1\nepoch 2\nall went well\n");
  const Ended run = run_pdsim({"diagnose", "job.log"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_NE(run.problems.find("job.log: no line is a failure message of torch, NCCL, Gloo or a launcher"),
            std::string::npos)
      << run.problems;
}

TEST(DiagnoseLogs, AreReadInLittleMemoryHoweverLongTheirLines) {
  const Folder folder;
  {
    std::ofstream file(folder.path() / "job.log", std::ios::binary);
    file << log_of_waiting(0);
    const std::string part(1 << 20, 'x');
    for (int i = 0; i < 64; ++i) file << part;
    file << std::string(1000, '\0') << "\n\x1b[31m" << log_of_waiting(1);
  }
  RunOptions options;
  options.most_memory = std::uint64_t{512} << 20;
  const Ended run = run_pdsim({"diagnose", "job.log"}, folder.path(), options);
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("1 lines were longer than 65536 bytes and were cut"), std::string::npos) << run.output;
  EXPECT_EQ(run.output.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace pdsim::cli_tests
