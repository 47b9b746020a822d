// `pdsim diagnose` over the files a PyTorch job leaves: how they are found, put together, and what of them cannot be read.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

std::string entry(int number, const std::string& state) {
  return "{\"record_id\": " + std::to_string(number) + ", \"process_group\": [\"0\", \"default_pg\"], " +
         "\"collective_seq_id\": " + std::to_string(number + 1) + ", \"profiling_name\": \"nccl:all_reduce\", " +
         "\"time_created_ns\": " + std::to_string(1'700'000'000'000'000'000 + number) + ", \"input_sizes\": [[4]], " +
         "\"input_dtypes\": [\"Float\"], \"state\": \"" + state + "\", \"timeout_ms\": 600000}";
}

// A rank of a job of four that made `calls` calls, and left the last open.
std::string dump(int calls) {
  std::string text =
      R"({"version": "2.9", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}},)";
  text += "\"entries\": [";
  for (int i = 0; i < calls; ++i) text += (i == 0 ? "" : ", ") + entry(i, i + 1 < calls ? "completed" : "started");
  return text + "]}";
}

// Rank 2 made one call less, and what it made is done.
std::string straggler() { return dump(2).replace(dump(2).find("started"), 7, "completed"); }

void write_job(const Folder& folder, const std::string& prefix) {
  for (const int rank : {0, 1, 3}) folder.write(prefix + std::to_string(rank), dump(3));
  folder.write(prefix + "2", straggler());
}

constexpr const char* accused = "deadlock[missing-call]: ranks 0, 1, 3 wait in all_reduce #3 for rank 2, which";

TEST(DiagnosePytorch, ReadsAFolderAndTheFilesOfAJobAlike) {
  const Folder folder;
  write_job(folder, "nccl_trace_rank_");
  folder.write("notes.txt", "no dump");
  folder.write("trace1", "no dump either");
  const Ended by_folder = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(by_folder.status, 0) << by_folder.problems;
  EXPECT_NE(by_folder.output.find(accused), std::string::npos) << by_folder.output;
  EXPECT_EQ(by_folder.output.rfind("nccl_trace_rank   4 ranks, deadlocked in all_reduce", 0), 0U) << by_folder.output;
  EXPECT_EQ(by_folder.output.find("replay"), std::string::npos) << by_folder.output;
  const Ended by_files = run_pdsim(
      {"diagnose", "nccl_trace_rank_0", "nccl_trace_rank_1", "nccl_trace_rank_2", "nccl_trace_rank_3"}, folder.path());
  EXPECT_EQ(by_files.status, 0) << by_files.problems;
  EXPECT_EQ(by_files.output, by_folder.output);
}

TEST(DiagnosePytorch, PutsTheFoldersOfSeveralHostsTogether) {
  const Folder folder;
  for (const char* host : {"a", "b"}) fs::create_directory(folder.path() / host);
  folder.write("a/rank_0.json", dump(3));
  folder.write("a/rank_1.json", dump(3));
  folder.write("b/rank_2.json", straggler());
  folder.write("b/rank_3.json", dump(3));
  const Ended run = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find(accused), std::string::npos) << run.output;
}

TEST(DiagnosePytorch, KeepsTwoJobsApart) {
  const Folder folder;
  for (const char* job : {"monday", "tuesday"}) {
    fs::create_directory(folder.path() / job);
    write_job(folder, std::string(job) + "/rank_");
  }
  const Ended run = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  const std::size_t first = run.output.find(accused);
  ASSERT_NE(first, std::string::npos) << run.output;
  EXPECT_NE(run.output.find(accused, first + 1), std::string::npos) << run.output;
}

TEST(DiagnosePytorch, TellsOfAFileItCannotReadAndTakesItsRankForOneWithoutADump) {
  const Folder folder;
  for (const int rank : {0, 1, 3}) folder.write("rank_" + std::to_string(rank), dump(3));
  folder.write("rank_2", dump(3).substr(0, 200));
  const Ended run = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("rank_2: invalid JSON at byte 201"), std::string::npos) << run.problems;
  EXPECT_EQ(std::count(run.problems.begin(), run.problems.end(), '\n'), 1) << run.problems;
  EXPECT_NE(run.output.find("deadlock[missing-record]"), std::string::npos) << run.output;
}

TEST(DiagnosePytorch, ExecutesNothing) {
  const Folder folder;
  const std::string content = "\x80\x02}U\x09pg_configcposix\nsystem\nU\x0dtouch hackeds.";
  folder.write("rank_0", content);
  const Ended run = run_pdsim({"diagnose", "rank_0"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_NE(run.problems.find("asks for GLOBAL, which names or calls code"), std::string::npos) << run.problems;
  EXPECT_NE(run.problems.find("(at byte 14)"), std::string::npos) << run.problems;
  EXPECT_EQ(folder.names(), std::vector<std::string>{"rank_0"});
}

TEST(DiagnosePytorch, ExplainsOurRecordsInPytorchsFormAsTheyWereBefore) {
  const Folder folder;
  run_pdsim({"scenario", "barrier_hang", "--variant", "broken", "--out", "run"}, folder.path());
  for (const std::string form : {"pickle", "json"}) {
    const Ended written = run_pdsim({"diagnose", "run", "--form", form, "--out", form}, folder.path());
    EXPECT_EQ(written.status, 0) << written.problems;
    const std::string ending = form == "json" ? ".json" : "";
    EXPECT_NE(written.output.find("written  " + form + "/barrier_hang/broken/rank_N" + ending + ", 4 files\n"),
              std::string::npos)
        << written.output;
    EXPECT_TRUE(fs::exists(folder.path() / form / "barrier_hang" / "broken" / ("rank_3" + ending)));
    const Ended read = run_pdsim({"diagnose", form}, folder.path());
    EXPECT_EQ(read.status, 0) << read.problems;
    EXPECT_NE(read.output.find("deadlock[collective-mismatch]: rank 0"), std::string::npos) << read.output;
  }
  const Ended again = run_pdsim({"diagnose", "pickle", "--form", "json", "--out", "again"}, folder.path());
  EXPECT_EQ(again.status, 0) << again.problems;
  EXPECT_TRUE(fs::exists(folder.path() / "again" / "rank" / "rank_0.json")) << again.output;
}

TEST(DiagnosePytorch, GivesACallOneNumberInReportsJsonTracesAndDumps) {
  const Folder folder;
  const Ended run = run_pdsim({"scenario", "barrier_hang", "--variant", "broken", "--out", "run"}, folder.path());
  EXPECT_NE(run.output.find("ranks 1..3 --barrier #13-"), std::string::npos) << run.output;
  const Ended json = run_pdsim({"scenario", "barrier_hang", "--variant", "broken", "--json"}, folder.path());
  EXPECT_NE(json.output.find(R"("first_divergence":{"group":"world","seq":13,)"), std::string::npos) << json.output;
  const fs::path files = folder.path() / "run" / "barrier_hang" / "broken";
  EXPECT_NE(text_of(files / "trace.json").find("barrier #13"), std::string::npos);
  EXPECT_NE(text_of(files / "report.html").find("first divergence: #13"), std::string::npos);
  EXPECT_EQ(text_of(files / "events.jsonl").find(R"("seq":0,)"), std::string::npos) << "PyTorch counts from 1";

  run_pdsim({"diagnose", "run", "--form", "json", "--out", "dumps"}, folder.path());
  const std::string dump = text_of(folder.path() / "dumps" / "barrier_hang" / "broken" / "rank_1.json");
  EXPECT_NE(dump.find(R"("collective_seq_id": 13)"), std::string::npos) << dump;
  EXPECT_EQ(dump.find(R"("collective_seq_id": 14)"), std::string::npos) << dump;
  EXPECT_NE(run_pdsim({"diagnose", "dumps"}, folder.path()).output.find("ranks 1..3 wait in barrier #13 "),
            std::string::npos);
}

TEST(DiagnosePytorch, WritesAPageOfOneJobAndAFolderOfSeveral) {
  const Folder folder;
  write_job(folder, "job_a_");
  const Ended one = run_pdsim({"diagnose", ".", "--html", "page.html"}, folder.path());
  EXPECT_EQ(one.status, 0) << one.problems;
  EXPECT_NE(text_of(folder.path() / "page.html").find("<dt>who</dt><dd>rank 2: no open call since "), std::string::npos);
  write_job(folder, "job_b_");
  const Ended two = run_pdsim({"diagnose", ".", "--html", "pages", "--json"}, folder.path());
  EXPECT_EQ(two.status, 0) << two.problems;
  EXPECT_EQ(std::count(two.output.begin(), two.output.end(), '\n'), 2) << two.output;
  EXPECT_TRUE(fs::exists(folder.path() / "pages" / "job_a.html"));
  EXPECT_TRUE(fs::exists(folder.path() / "pages" / "job_b.html"));
  const Ended refused = run_pdsim({"diagnose", ".", "--html", "page.html"}, folder.path());
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.problems.find("--html page.html names one page, but there are several jobs; give a folder"),
            std::string::npos)
      << refused.problems;
}

TEST(DiagnosePytorch, SaysWhereAPageCannotBeWritten) {
  const Folder folder;
  write_job(folder, "job_");
  const Ended run = run_pdsim({"diagnose", ".", "--html", "nowhere/page.html"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("--html nowhere/page.html: "), std::string::npos) << run.problems;
}

TEST(DiagnosePytorch, RefusesAFormThatIsNone) {
  const Folder folder;
  const Ended run = run_pdsim({"diagnose", ".", "--form", "yaml"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("--form yaml: expected pickle or json"), std::string::npos) << run.problems;
}

TEST(DiagnosePytorch, SaysWhatAFolderWithoutRecordsLacks) {
  const Folder folder;
  folder.write("settings1.json", "{\"a\": 1}");
  const Ended run = run_pdsim({"diagnose", "."}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("no dump of PyTorch's Flight Recorder"), std::string::npos) << run.problems;
}

}  // namespace
}  // namespace pdsim::cli_tests
