// `pdsim diagnose` over a folder of dumps in which some files are not of the job: each costs only itself, and every form of the report
// names it.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

struct Made {
  int calls = 3;                      // the last is open
  std::string ranks = "[0, 1, 2, 3]";  // of the default group
  std::int64_t begins = 0;            // seconds after the others
};

std::string dump_of(const Made& made) {
  std::string text = R"({"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": ")" + made.ranks +
                     R"("}}, "entries": [)";
  for (int i = 0; i < made.calls; ++i) {
    text += (i == 0 ? "" : ", ");
    text += R"({"record_id": )" + std::to_string(i) + R"(, "process_group": ["0", "default_pg"], "collective_seq_id": )" +
            std::to_string(i + 1) + R"(, "profiling_name": "nccl:all_reduce", "time_created_ns": )" +
            std::to_string((1'700'000'000 + made.begins) * 1'000'000'000 + i) +
            R"(, "input_sizes": [[4]], "input_dtypes": ["Float"], "state": ")" +
            (i + 1 < made.calls ? "completed" : "started") + R"(", "timeout_ms": 600000})";
  }
  return text + "]}";
}

// Rank 2 made one call fewer, and what it made is complete.
std::string one_behind() {
  std::string text = dump_of({2});
  return text.replace(text.find("started"), 7, "completed");
}

// A folder in which rank 2 is to blame.
class DiagnoseLeftOut : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int rank : {0, 1, 3}) folder.write("rank_" + std::to_string(rank), dump_of({}));
    folder.write("rank_2", one_behind());
  }

  // Rank 2 is accused, by text, JSON and page, and each names `file` with this reason.
  void expect_left_out(const std::string& file, const std::string& reason) {
    const Ended text = run_pdsim({"diagnose", ".", "--html", "page.html"}, folder.path());
    EXPECT_EQ(text.status, 2);
    EXPECT_NE(text.problems.find(file + ": " + reason + "; left out\n"), std::string::npos) << text.problems;
    EXPECT_NE(text.output.find("(1 file left out)"), std::string::npos) << text.output;
    EXPECT_NE(text.output.find("deadlock[missing-call]: ranks 0, 1, 3 wait in all_reduce #3 for rank 2, which"),
              std::string::npos)
        << text.output;
    EXPECT_NE(text.output.find("\nleft out\n  ./" + file + ": "), std::string::npos) << text.output;
    EXPECT_NE(text_of(folder.path() / "page.html").find(file + ": " + reason), std::string::npos);
    const Ended json = run_pdsim({"diagnose", ".", "--json"}, folder.path());
    const nlohmann::json job = nlohmann::json::parse(json.output, nullptr, false);
    ASSERT_TRUE(job.is_object()) << json.output << json.problems;
    EXPECT_EQ(job["ranks"], 4);
    EXPECT_EQ(job["findings"][0]["culprits"], nlohmann::json::array({2}));
    ASSERT_EQ(job["left_out"].size(), 1U) << json.output;
    EXPECT_EQ(job["left_out"][0]["file"], "./" + file);
    EXPECT_EQ(job["left_out"][0]["part"], "file");
    EXPECT_EQ(job["left_out"][0]["reason"], reason);
  }

  const Folder folder;
};

TEST_F(DiagnoseLeftOut, ACopyWhoseNameEndsInNoRankIsNamed) {
  folder.write("rank_2 (1)", one_behind());
  expect_left_out("rank_2 (1)", "its name does not end in a rank, as nccl_trace_rank_3 does: rename it if it belongs to the job");
}

TEST_F(DiagnoseLeftOut, ASecondDumpOfARankGivesWayToTheOneWithNewerCalls) {
  folder.write("rank_3.json", dump_of({2}));
  expect_left_out("rank_3.json", "a second dump of rank 3; ./rank_3 has newer calls and is used");
}

TEST_F(DiagnoseLeftOut, ASecondDumpThatIsDamagedCostsTheOtherNothing) {
  folder.write("rank_3.json", dump_of({}).substr(0, 300));
  expect_left_out("rank_3.json", "invalid JSON at byte 301");
}

TEST_F(DiagnoseLeftOut, NumbersThatNoRankHasAreLeftOut) {
  folder.write("rank_200000", dump_of({}));
  expect_left_out("rank_200000", "the number in its name is above 131071, the highest rank that is read");
  fs::remove(folder.path() / "rank_200000");
  folder.write("rank_99999999999999999999", dump_of({}));
  expect_left_out("rank_99999999999999999999", "the number in its name is above 131071, the highest rank that is read");
}

TEST_F(DiagnoseLeftOut, ARankThatItsOwnGroupDoesNotHaveIsLeftOut) {
  folder.write("rank_100000", dump_of({}));
  expect_left_out("rank_100000", "its name says rank 100000, but its default group has ranks 0..3");
}

TEST_F(DiagnoseLeftOut, AFileOfAnotherJobIsLeftOut) {
  folder.write("rank_5", dump_of({3, "[0, 1, 2, 3, 4, 5]"}));
  expect_left_out("rank_5",
                  "it belongs to another job: its default group has ranks 0..5, that of most files ranks 0..3");
}

TEST_F(DiagnoseLeftOut, AFileOfALaterJobDoesNotMakeThisOneStale) {
  folder.write("rank_5", dump_of({3, "[0, 1, 2, 3, 4, 5]", 3600}));
  expect_left_out("rank_5",
                  "it belongs to another job: its default group has ranks 0..5, that of most files ranks 0..3");
}

TEST_F(DiagnoseLeftOut, AnEarlierRunOfMoreRanksIsLeftOutWithoutFault) {
  for (const int rank : {4, 5, 6, 7, 8, 9})
    folder.write("rank_" + std::to_string(rank), dump_of({3, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", -3600}));
  const Ended run = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("4 ranks (6 files left out), deadlocked"), std::string::npos) << run.output;
  EXPECT_NE(run.problems.find("./rank_4 and 5 more files (ranks 4..9): from an earlier run with 10 ranks, which ended "
                              "3600 s before this one began; left out"),
            std::string::npos)
      << run.problems;
}

TEST_F(DiagnoseLeftOut, ANumberAloneIsADateAndNoRank) {
  const Folder other;
  other.write("dump_20260101.json", dump_of({}));
  const Ended run = run_pdsim({"diagnose", "."}, other.path());
  EXPECT_EQ(run.problems, "");
  EXPECT_NE(run.output.find("dump   4 ranks (3 without a record)"), std::string::npos) << run.output;
}

TEST_F(DiagnoseLeftOut, OneDoubledRankDoesNotTakeTheFoldersOfTwoHostsApart) {
  const Folder hosts;
  for (const char* host : {"a", "b"}) fs::create_directory(hosts.path() / host);
  hosts.write("a/rank_0", dump_of({}));
  hosts.write("a/rank_1", dump_of({}));
  hosts.write("b/rank_1", dump_of({2}));
  hosts.write("b/rank_2", one_behind());
  hosts.write("b/rank_3", dump_of({}));
  const Ended run = run_pdsim({"diagnose", "."}, hosts.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.output.find("ranks 0, 1, 3 wait in all_reduce #3 for rank 2"), std::string::npos) << run.output;
  EXPECT_NE(run.problems.find("./b/rank_1: a second dump of rank 1; ./a/rank_1 has newer calls and is used"),
            std::string::npos)
      << run.problems;
}

TEST_F(DiagnoseLeftOut, EntriesOfAFileAreNamedInTheReport) {
  std::string text = dump_of({});
  text.replace(text.find("\"record_id\": 0"), 14, "\"record_id\": \"a\"");
  folder.write("rank_1", text);
  const Ended run = run_pdsim({"diagnose", ".", "--json"}, folder.path());
  EXPECT_EQ(run.status, 2);
  const nlohmann::json job = nlohmann::json::parse(run.output, nullptr, false);
  ASSERT_EQ(job["left_out"].size(), 1U) << run.output;
  EXPECT_EQ(job["left_out"][0]["part"], "entries");
  EXPECT_EQ(job["findings"][0]["culprits"], nlohmann::json::array({2}));
}

}  // namespace
}  // namespace pdsim::cli_tests
