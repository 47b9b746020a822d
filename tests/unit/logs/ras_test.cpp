// What NCCL's RAS service prints: read, and concluded from.

#include "scenarios/diagnosis/logs/ras_findings.h"

#include "scenarios/records/logs/log_reader.h"
#include "scenarios/reports/text/log_text.h"
#include "scenarios/run/log_diagnosis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pdsim::scenarios {
namespace {

constexpr std::string_view summary = R"(NCCL version 2.24.3 compiled with CUDA 12.6
CUDA runtime version 12060, driver version 12060

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      2          4            1          8        8

Communicators... (0.01s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         4         8         8   RUNNING  MISMATCH
    1         4         2         1         2         8   RUNNING  OK

Errors
======

)";

LogDiagnosis diagnosed_ras(const std::string& text) {
  const std::string whole = std::string(summary) + text;
  const logs::LogFacts facts = logs::read_log_texts({{"ras.txt", whole}});
  LogDiagnosis done = diagnose_logs(facts, "ras.txt");
  return done;
}

std::string counts(const std::string& operation, const std::string& lines) {
  return "Warnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n  Communicator ranks have different " + operation +
         " operation counts\n" + lines + "\n";
}

std::string json_rank(int rank, int reduces, int broadcasts = 0) {
  return fmt::format(
      R"({{"rank": {0}, "host": "10.0.0.{0}", "pid": {1}, "cuda_dev": {0}, "nvml_dev": {0}, "status": {{"init_state": 0, )"
      R"("async_error": 0, "finalize_called": false, "destroy_flag": false, "abort_flag": false}}, "collective_counts": )"
      R"({{"Broadcast": {3}, "AllReduce": {2}}}}})",
      rank, 4700 + rank, reduces, broadcasts);
}

LogDiagnosis diagnosed_json(const std::string& ranks, int size, const std::string& missing = "") {
  const std::string text = fmt::format(
      R"({{"nccl_version": "2.29.1", "timestamp": "2026-01-05 10:00:00", "communicators_count": 1, "communicators": [)"
      R"({{"hash": "0xae94423cfbb2ef4a", "size": {}, "ranks": [{}], "missing_ranks": [{}]}}]}})",
      size, ranks, missing);
  const logs::LogFacts facts = logs::read_log_texts({{"ras.json", text}});
  return diagnose_logs(facts, "ras.json");
}

TEST(Ras, OfJsonNamesTheRankThatLaunchedFewer) {
  const LogDiagnosis done = diagnosed_json(json_rank(0, 10) + "," + json_rank(1, 9) + "," + json_rank(2, 10), 3);
  ASSERT_EQ(done.report.findings.size(), 1U);
  EXPECT_EQ(done.report.findings.front().id, "missing-call");
  EXPECT_EQ(done.report.findings.front().ranks, std::vector<Rank>{1});
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("`py-spy dump --pid 4701` on 10.0.0.1"), std::string::npos) << text;
}

TEST(Ras, OfJsonNamesTheRankThatMadeAnotherCall) {
  const LogDiagnosis done = diagnosed_json(json_rank(0, 10, 1) + "," + json_rank(1, 9, 2) + "," + json_rank(2, 10, 1), 3);
  ASSERT_EQ(done.report.findings.size(), 1U);
  EXPECT_EQ(done.report.findings.front().id, "collective-mismatch");
  EXPECT_EQ(done.report.findings.front().ranks, std::vector<Rank>{1});
}

TEST(Ras, OfJsonNamesProcessesThatDoNotAnswerOrAreDead) {
  const auto missing = [](bool dead) {
    return fmt::format(
        R"({{"rank": 1, "host": "10.0.0.1", "pid": 4701, "nvml_dev": 1, "status": {{"unresponsive": true, "considered_dead": {}}}}})",
        dead);
  };
  const LogDiagnosis silent = diagnosed_json(json_rank(0, 10), 2, missing(false));
  ASSERT_EQ(silent.report.findings.size(), 1U);
  EXPECT_EQ(silent.report.findings.front().id, "rank-hung");
  EXPECT_EQ(silent.report.findings.front().ranks, std::vector<Rank>{1});
  EXPECT_EQ(diagnosed_json(json_rank(0, 10), 2, missing(true)).report.findings.front().id, "rank-died");
}

TEST(Ras, OfJsonThatIsHealthyOrDamagedFindsNothing) {
  EXPECT_TRUE(diagnosed_json(json_rank(0, 10) + "," + json_rank(1, 10), 2).report.findings.empty());
  const logs::LogFacts cut = logs::read_log_texts({{"ras.json", R"({"nccl_version": "2.29", "communicators": [{"hash")"}});
  EXPECT_TRUE(cut.facts.empty());
  ASSERT_EQ(cut.left_out.named().size(), 1U);
  EXPECT_NE(cut.left_out.named().front().find("not the complete JSON"), std::string::npos);
  EXPECT_TRUE(logs::looks_like_log(R"({ "nccl_version": "2.29.1", "communicators_count": 1)"));
  EXPECT_FALSE(logs::looks_like_log(R"({ "version": "2.9", "entries": []})"));
}

TEST(Ras, NamesTheRankThatLaunchedFewer) {
  const LogDiagnosis done = diagnosed_ras(
      counts("AllReduce", "  7 ranks have launched up to operation 10\n"
                          "  Rank 3 has launched up to operation 9 -- GPU 3 managed by process 4711 on node 10.0.0.7\n"));
  ASSERT_EQ(done.report.findings.size(), 1U);
  const Diagnosis& d = done.report.findings.front();
  EXPECT_EQ(d.id, "missing-call");
  EXPECT_EQ(d.ranks, std::vector<Rank>{3});
  EXPECT_EQ(d.headline, "rank 3 has launched 9 AllReduce operations, and 7 ranks have launched 10");
  const std::string text = render_logs(done.report, done.story);
  EXPECT_NE(text.find("`py-spy dump --pid 4711` on 10.0.0.7"), std::string::npos) << text;
  EXPECT_NE(text.find("run ncclras again"), std::string::npos) << text;
}

TEST(Ras, AccusesNobodyWhereFewAreAhead) {
  const Diagnosis d =
      diagnosed_ras(counts("collective",
                           "  7 ranks have not launched any operations\n"
                           "  Rank 0 has launched up to operation 1 -- GPU 0 managed by process 12 on node a\n"))
          .report.findings.at(0);
  EXPECT_TRUE(d.ranks.empty());
  EXPECT_EQ(d.waiting, std::vector<Rank>{0});
  EXPECT_EQ(d.headline, "rank 0 has launched 1 operations, and 7 ranks have launched none");
  EXPECT_NE(d.cause.find("waits in a call that the others have not made"), std::string::npos) << d.cause;
}

TEST(Ras, SeesThatARankMadeAnotherCall) {
  const std::string text =
      "Warnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n"
      "  Communicator ranks have different Broadcast operation counts\n"
      "  7 ranks have launched up to operation 5\n"
      "  Rank 2 has launched up to operation 4 -- GPU 2 managed by process 40 on node a\n"
      "  Communicator ranks have different AllReduce operation counts\n"
      "  7 ranks have launched up to operation 9\n"
      "  Rank 2 has launched up to operation 10 -- GPU 2 managed by process 40 on node a\n\n";
  const Diagnosis d = diagnosed_ras(text).report.findings.at(0);
  EXPECT_EQ(d.id, "collective-mismatch");
  EXPECT_EQ(d.ranks, std::vector<Rank>{2});
  EXPECT_EQ(d.headline, "rank 2 has launched AllReduce where the others launched Broadcast");
}

TEST(Ras, PutsAProcessThatCannotBeReachedFirst) {
  const std::string text =
      "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"
      "  Process 4714 on node 10.0.0.8 managing GPU 2\n\n"
      "#0-0 (27a079b828ff1a75) INCOMPLETE\n  Missing communicator data from 1 rank\n"
      "  Rank 6 -- GPU 2 managed by process 4714 on node 10.0.0.8\n\n" +
      counts("AllReduce", "  6 ranks have launched up to operation 10\n"
                          "  Rank 3 has launched up to operation 9 -- GPU 3 managed by process 4711 on node 10.0.0.7\n");
  const LogDiagnosis done = diagnosed_ras(text);
  ASSERT_EQ(done.report.findings.size(), 1U);
  EXPECT_EQ(done.report.findings.front().id, "rank-died");
  EXPECT_EQ(done.report.findings.front().ranks, std::vector<Rank>{6});
  EXPECT_EQ(done.report.findings.front().headline,
            "rank 6 (process 4714 on 10.0.0.8) cannot be reached, and RAS considers it dead");
}

TEST(Ras, AccusesNobodyInACommunicatorOfSome) {
  const std::string text =
      "Warnings\n========\n\n#1-2 (00000000deadbeef) MISMATCH\n"
      "  Communicator ranks have different AllGather operation counts\n"
      "  Rank 0 has launched up to operation 5 -- GPU 0 managed by process 1 on node a\n"
      "  Rank 1 has launched up to operation 4 -- GPU 0 managed by process 2 on node b\n\n";
  const Diagnosis d = diagnosed_ras(text).report.findings.at(0);
  EXPECT_TRUE(d.ranks.empty()) << "rank 1 of the communicator is another rank of the job";
  EXPECT_NE(d.headline.find("rank 1 of communicator 00000000deadbeef has launched 4"), std::string::npos) << d.headline;
}

TEST(Ras, SaysNothingOfAJobThatAgrees) {
  const LogDiagnosis done = diagnosed_ras("Warnings\n========\n\n");
  EXPECT_TRUE(done.report.findings.empty());
}

TEST(Ras, SurvivesNumbersBeyondAnyRange) {
  const LogDiagnosis done = diagnosed_ras(
      counts("AllReduce", "  99999999999999999999 ranks have launched up to operation 99999999999999999999\n"
                          "  Rank 99999999999 has launched up to operation 1 -- GPU 0 managed by process 1 on node a\n"
                          "  Rank 1 has launched up to operation -5 -- \n"));
  EXPECT_TRUE(done.report.findings.empty());
}

}  // namespace
}  // namespace pdsim::scenarios
