// `pdsim diagnose` says of a saved record what `pdsim scenario` said of the run.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

// From the headline to the fix, which only the live run can prove by other variants.
std::string explanation(const std::string& report, const std::string& headline) {
  const std::size_t from = report.find(headline), to = report.find("\nfix");
  return from == std::string::npos || to == std::string::npos ? "no explanation in: " + report
                                                              : report.substr(from, to - from);
}

TEST(Diagnose, SaysTheSameOfTheSavedRecordAsOfTheRun) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"unused_params/broken", "deadlock[unused-parameters]"},
      {"unused_params/error_at_next_forward", "error[unused-parameters]"},
      {"barrier_hang/broken", "deadlock[collective-mismatch]"},
      {"inplace_buffer_broadcast/broken", "error[buffer-broadcast-inplace]"},
      {"reused_store_file/broken", "timeout[stale-rendezvous]"},
  };
  for (const auto& [name, headline] : cases) {
    const std::string file = "scenarios/catalog/" + name.substr(0, name.find('/')) + ".yaml";
    const std::string variant = name.substr(name.find('/') + 1);
    const Ended live =
        run_pdsim({"scenario", file, "--variant", variant, "--out", folder.path().string()}, source_tree);
    const Ended saved = run_pdsim({"diagnose", (folder.path() / name / "events.jsonl").string()}, source_tree);
    EXPECT_EQ(saved.status, 0) << saved.problems;
    EXPECT_EQ(explanation(saved.output, headline), explanation(live.output, headline)) << name;
  }
  const Ended all = run_pdsim({"diagnose", folder.path().string()}, folder.path());
  EXPECT_EQ(all.status, 0);
  for (const auto& [name, headline] : cases) EXPECT_NE(all.output.find(headline), std::string::npos) << name;
}

TEST(Diagnose, OfARunThatEndedWellSaysSo) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "fixed", "--out", folder.path().string()}, source_tree);
  const Ended saved = run_pdsim({"diagnose", folder.path().string()}, folder.path());
  EXPECT_EQ(saved.status, 0);
  EXPECT_NE(saved.output.find("nothing to explain"), std::string::npos) << saved.output;
}

TEST(Diagnose, ReadsRecordsThatDoNotTellWhereTheyComeFrom) {
  const Folder folder;
  run_pdsim({"scenario", "unused_params", "--variant", "broken", "--out", folder.path().string()}, source_tree);
  std::ifstream file(folder.path() / "unused_params" / "broken" / "events.jsonl");
  std::ostringstream text;
  text << file.rdbuf();
  folder.write("mine.jsonl", text.str().substr(text.str().find('\n') + 1));
  const Ended saved = run_pdsim({"diagnose", "mine.jsonl"}, folder.path());
  EXPECT_EQ(saved.status, 0) << saved.problems;
  EXPECT_NE(saved.output.find("deadlock[unused-parameters]: rank 0 waits for a gradient bucket"), std::string::npos)
      << saved.output;
}

TEST(Diagnose, RefusesWhatIsNoRecord) {
  const Folder folder;
  folder.write("empty", "");
  folder.write("junk", std::string("\0\xff\x01{}[", 6));
  folder.write("half", "{\"event\":\"call\",\"ra");
  fs::create_directory(folder.path() / "nothing");
  for (const char* name : {"empty", "junk", "half", "nothing", "missing"}) {
    const Ended run = run_pdsim({"diagnose", name}, folder.path());
    EXPECT_EQ(run.status, 2) << name;
    EXPECT_EQ(run.output, "") << name;
    EXPECT_EQ(std::count(run.problems.begin(), run.problems.end(), '\n'), 1) << run.problems;
  }
}

// A record of two ranks that wait in different operations.
std::string stuck_record(const Folder& folder) {
  run_pdsim({"scenario", "different_counts", "--variant", "other_operation", "--out", folder.path().string()},
            source_tree);
  return text_of(folder.path() / "different_counts" / "other_operation" / "events.jsonl");
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST(Diagnose, NamesTheLineAndTheFieldOfANumberThatCannotBeAndExplainsTheRest) {
  const Folder folder;
  const std::string record = stuck_record(folder);
  const std::string place = record.substr(record.find("\"column\":"), 10);
  for (const auto& [what, by, problem] :
       {std::tuple{std::string("\"ended_ps\":"),
                   "\"ended_ps\":-9223372036854775808,\"x\":", "`ended_ps` is -9223372036854775808"},
        std::tuple{std::string("\"issued_ps\":"),
                   "\"issued_ps\":9223372036854775807,\"x\":", "`issued_ps` is 9223372036854775807"},
        std::tuple{place, "\"column\":2000000000", "`site.column` is 2000000000"}}) {
    folder.write("mine.jsonl", replaced(record, what, by));
    const Ended run = run_pdsim({"diagnose", "mine.jsonl"}, folder.path());
    EXPECT_EQ(run.status, 2) << run.problems;
    EXPECT_NE(run.problems.find("mine.jsonl: line "), std::string::npos) << run.problems;
    EXPECT_NE(run.problems.find(problem), std::string::npos) << run.problems;
    EXPECT_NE(run.problems.find("; left out\n"), std::string::npos) << run.problems;
    EXPECT_NE(run.output.find("different_counts / other_operation   "), std::string::npos) << run.output;
    EXPECT_LT(run.output.size(), 10000U);
  }
}

TEST(Diagnose, WritesBelowTheFolderOfOutWhateverTheRecordCallsItself) {
  const Folder folder;
  for (const std::string& name : {std::string("../outside"), (folder.path() / "absolute").string()}) {
    folder.write("mine.jsonl",
                 "{\"event\":\"origin\",\"scenario\":\"" + name +
                     "\",\"variant\":\"../../x\"}\n{\"event\":\"end\",\"rank\":0,\"end\":\"returned\"}\n");
    const Ended run = run_pdsim({"diagnose", "mine.jsonl", "--out", "in/dir"}, folder.path());
    EXPECT_EQ(run.status, 0) << run.problems;
  }
  for (const std::string& name : folder.names())
    EXPECT_TRUE(name == "in" || name == "mine.jsonl" || name.starts_with("in/dir")) << name;
}

TEST(Diagnose, PrintsNothingOfARecordThatATerminalObeys) {
  const Folder folder;
  std::string record =
      replaced(stuck_record(folder), R"("scenario":"different_counts")", R"("scenario":"\u001b]0;mine\u0007")");
  record = replaced(std::move(record), R"("name":"all_reduce")", R"("name":"all\u009b31m\u202e\nPASS  forged")");
  folder.write("mine.jsonl", record);
  folder.write("bad.jsonl", "{\"event\":\"\\u001b[31m\xe2\x80\xae\"}\n");
  for (const char* file : {"mine.jsonl", "bad.jsonl"}) {
    const Ended run = run_pdsim({"diagnose", file}, folder.path());
    for (const std::string& text : {run.output, run.problems}) {
      EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
      EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
      EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << text;
      EXPECT_EQ(text.find("\nPASS  forged"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
