// Files that are wrong in every way: a clear line, status 2, nothing run and nothing left behind.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::cli_tests {
namespace {

std::string with(std::string from, const std::string& what, const std::string& instead) {
  return from.replace(from.find(what), what.size(), instead);
}

// What `pdsim <command> mine.yaml` says to a file with this content, for both commands that load one.
void expect_refused(const std::string& content) {
  for (const char* command : {"check", "scenario"}) {
    const Folder folder;
    folder.write("mine.yaml", content);
    const Ended run = run_pdsim({command, "mine.yaml"}, folder.path());
    EXPECT_EQ(run.status, 2) << command << ": " << run.problems;
    EXPECT_NE(run.problems.find("error"), std::string::npos) << run.problems;
    EXPECT_LT(run.problems.size(), 10'000U) << run.problems.substr(0, 1000);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"mine.yaml"});
  }
}

TEST(BadInput, AGoodFileIsAccepted) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  const Ended run = run_pdsim({"check", "mine.yaml"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
}

TEST(BadInput, AMissingFileIsNamed) {
  const Folder folder;
  const Ended run = run_pdsim({"check", "unused_param.yaml"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.problems.find("did you mean `unused_params.yaml`?"), std::string::npos) << run.problems;
}

TEST(BadInput, AFolderIsNoFile) {
  const Folder folder;
  EXPECT_EQ(run_pdsim({"check", "."}, folder.path()).status, 2);
}

TEST(BadInput, AnEmptyFileIsRefused) { expect_refused(""); }
TEST(BadInput, BinaryJunkIsRefused) {
  expect_refused(
      "\x7f"
      "ELF\x02\x01\x01\xff\xfe\x80\x00\x01\n\xc3\x28");
}
TEST(BadInput, ANulIsRefused) { expect_refused(with(good_scenario, "barrier", std::string("bar\0ier", 7))); }
TEST(BadInput, AHugeFileIsRefused) { expect_refused(good_scenario + std::string(100'000'000, '#') + "\n"); }
TEST(BadInput, NoRanksAreRefused) { expect_refused(with(good_scenario, "ranks: 2", "ranks: 0")); }
TEST(BadInput, AnUnknownKeyIsRefused) { expect_refused(with(good_scenario, "world", "wrold")); }
TEST(BadInput, ATabIsRefused) { expect_refused(good_scenario + "\tseed: 7\n"); }
TEST(BadInput, ASecondDocumentIsRefused) { expect_refused(good_scenario + "---\n" + good_scenario); }
TEST(BadInput, AnAliasIsRefused) {
  expect_refused(with(with(good_scenario, "{ranks: 2}", "&w {ranks: 2}"), "[init_process_group, barrier]", "*w"));
}
TEST(BadInput, DeepNestingIsRefused) { expect_refused(good_scenario + "model: " + std::string(100'000, '[') + "\n"); }

TEST(BadInput, AbsurdlyManyRanksAreRefused) {
  for (const char* ranks :
       {"ranks: 1000000000", "ranks: 99999999999999999999", "ranks: -1", "ranks: 2.5", "ranks: two"})
    expect_refused(with(good_scenario, "ranks: 2", ranks));
}

TEST(BadInput, EveryTruncationIsRefusedOrAccepted) {
  for (std::size_t length = 0; length < good_scenario.size(); length += 7) {
    const Folder folder;
    folder.write("mine.yaml", good_scenario.substr(0, length));
    const int status = run_pdsim({"check", "mine.yaml"}, folder.path()).status;
    EXPECT_TRUE(status == 2 || status == 0) << length << " bytes: " << status;
  }
}

TEST(BadInput, AnUnwritableFolderIsToldBeforeAnythingRuns) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  folder.write("file", "");
  const Ended run = run_pdsim({"scenario", "mine.yaml", "--out", "file/below"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_TRUE(run.problems.starts_with("pdsim: cannot write to ")) << run.problems;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"file", "mine.yaml"}));
}

TEST(BadInput, WrongOptionsAreRefused) {
  const std::vector<std::vector<std::string>> wrong{{"--strategy", "lifo"}, {"--strategy", "replay:a"},
                                                    {"--patience", "10"},   {"--on", "moon"},
                                                    {"--seed", "-1"},       {"--variant", "nope"}};
  for (const auto& option : wrong) {
    const Folder folder;
    folder.write("mine.yaml", good_scenario);
    const Ended run = run_pdsim({"scenario", "mine.yaml", option[0], option[1]}, folder.path());
    EXPECT_EQ(run.status, 2) << option[0] << " " << option[1];
    EXPECT_EQ(folder.names(), std::vector<std::string>{"mine.yaml"});
  }
}

TEST(BadInput, AStrategyIsToldWhereItIsWrong) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  const std::vector<std::vector<std::string>> wrong{
      {"replay:0..1", "  replay:0..1\n           ^ expected a number, such as the 1 of replay:0.1.1\n"},
      {"replay:0.1.", "  replay:0.1.\n             ^ expected a number after the dot\n"},
      {"replay:0.99999999999", "  replay:0.99999999999\n           ^ expected a number up to 4294967295\n"},
      {"replay:0 1", "  replay:0 1\n          ^ expected a dot between the numbers\n"},
      {"lifo", "  lifo\n  ^ expected fifo, random or replay:0.1.1\n"}};
  for (const auto& strategy : wrong) {
    const Ended run = run_pdsim({"scenario", "mine.yaml", "--strategy", strategy[0]}, folder.path());
    EXPECT_EQ(run.status, 2) << strategy[0];
    EXPECT_NE(run.problems.find(strategy[1]), std::string::npos) << run.problems;
  }
  EXPECT_EQ(run_pdsim({"scenario", "mine.yaml", "--strategy", "replay:"}, folder.path()).status, 0);
}

TEST(BadInput, NumbersThatAreNoneAreRefusedByEveryFlag) {
  const std::vector<std::vector<std::string>> flags{{"bench", "--factor"},
                                                    {"bench", "--iters"},
                                                    {"bench", "--warmup"},
                                                    {"bench", "--root"},
                                                    {"bench", "--blocks"},
                                                    {"bench", "--ranks"},
                                                    {"bench", "--nodes"},
                                                    {"bench", "--min"},
                                                    {"bench", "--max"},
                                                    {"bench", "--latency"},
                                                    {"bench", "--bandwidth"},
                                                    {"bench", "--header"},
                                                    {"bench", "--seed"},
                                                    {"bench", "--patience"},
                                                    {"bench", "--join-within"},
                                                    {"bench", "--reduce-bandwidth"},
                                                    {"validate", "--expect"},
                                                    {"validate", "--max-bytes"},
                                                    {"explain", "ring", "--ranks"},
                                                    {"explain", "ring", "--bytes"},
                                                    {"explain", "ring", "--root"},
                                                    {"explain", "ring", "--nodes"},
                                                    {"buckets", "unused_params", "--bucket-cap"},
                                                    {"scenario", "unused_params", "--seed"},
                                                    {"scenario", "unused_params", "--patience"},
                                                    {"launch", "--patience"},
                                                    {"launch", "--grace"},
                                                    {"launch", "-n"}};
  for (const std::vector<std::string>& flag : flags)
    for (const char* number : {"nan", "-inf", "-1", "1e400", "99999999999999999999999"}) {
      std::vector<std::string> arguments = flag;
      arguments.back() += "=" + std::string(number);
      if (flag.back() == "-n") arguments.back() = "-n" + std::string(number);
      if (flag.front() == "launch") arguments.insert(arguments.end(), {"--", "true"});
      if (flag.front() == "launch" && flag.back() != "-n") arguments.insert(arguments.begin() + 1, {"-n", "1"});
      const Ended run = run_pdsim(arguments, "/");
      EXPECT_EQ(run.status, 2) << arguments.front() << " " << flag.back() << " " << number << "\n" << run.output;
      EXPECT_EQ(run.output, "");
    }
}

TEST(BadInput, OneBadFileAmongGoodOnesStopsAll) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  folder.write("bad.yaml", with(good_scenario, "init_process_group, barrier", "init_process_group, barier"));
  for (const char* form : {"--json", "--quiet"}) {
    const Ended run = run_pdsim({"scenario", "mine.yaml", "bad.yaml", "missing.yaml", form}, folder.path());
    EXPECT_EQ(run.status, 2);
    const std::string answer = form == std::string("--json") ? "{\"version\":1,\"command\":\"scenario\",\"status\":2,\"problems\":[" : "";
    EXPECT_EQ(run.output.substr(0, answer.size()), answer);
    EXPECT_EQ(run.output.empty(), answer.empty()) << "standard output is for results";
    for (const char* problem : {"bad.yaml:5:", "did you mean `barrier`?", "`missing.yaml`", "3 errors in 2 of 3 files; nothing was run"})
      EXPECT_NE(run.problems.find(problem), std::string::npos) << problem << " in " << run.problems;
  }
}

TEST(BadInput, ABareNameOfTheCatalogIsFoundFromAnyFolder) {
  const Folder folder;
  for (const char* name : {"unused_params", "unused_params.yaml"})
    EXPECT_EQ(run_pdsim({"scenario", name, "--quiet"}, folder.path()).status, 0) << name;
  EXPECT_EQ(folder.names(), std::vector<std::string>{});
}

TEST(BadInput, EveryCommandHelpsWithAnExample) {
  for (const char* command : {"scenario", "check", "list", "explain", "diagnose", "doctor", "schema"}) {
    const Ended run = run_pdsim({command, "--help"}, "/");
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.output.find("Example: pdsim " + std::string(command)), std::string::npos) << run.output;
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
