// Plans as files of the user's own: proven, shown, timed and run, and never run when they are wrong.
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

const std::filesystem::path examples = source_tree / "scenarios/plans/examples";

std::string scenario_with(const std::string& plan) {
  return "pdsim: 1\nname: mine\nsummary: a plan of one's own\nworld: {ranks: 4}\nprogram:\n  - init_process_group\n"
         "  - all_reduce: {count: 64, algorithm: " +
         plan + "}\nexpect: {outcome: ok}\n";
}

TEST(PlanFiles, ThatAreRightAreProvenShownTimedAndRun) {
  for (const char* plan : {"ring.plan", "doubling.plan", "tree.plan", "pairwise.plan"}) {
    const Ended proven = run_pdsim({"prove", plan, "--ranks", "9"}, examples);
    EXPECT_EQ(proven.status, 0) << proven.output << proven.problems;
    const Ended checked = run_pdsim(
        {"validate", "--algorithm", plan, "--ranks", "4", "-d", "f32", "-o", "sum", "--max-bytes", "64"}, examples);
    EXPECT_EQ(checked.status, 0) << checked.output << checked.problems;
    EXPECT_EQ(run_pdsim({"bench", "--algorithm", plan, "--ranks", "4", "--max", "1KiB"}, examples).status, 0);
  }
  const Folder folder;
  const Ended drawn = run_pdsim({"explain", (examples / "ring.plan").string(), "--svg", "ring.svg"}, folder.path());
  EXPECT_EQ(drawn.status, 0) << drawn.problems;
  EXPECT_TRUE(text_of(folder.path() / "ring.svg").starts_with("<svg "));
  folder.write("ring.plan", text_of(examples / "ring.plan"));
  folder.write("mine.yaml", scenario_with("ring.plan"));
  const Ended run = run_pdsim({"scenario", "mine.yaml"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
}

TEST(PlanFiles, ThatAProgramPrintsAreProvenAndRun) {
  const Ended proven = run_pdsim({"prove", "./ring.py", "--ranks", "3"}, examples);
  if (proven.problems.find("status 127") != std::string::npos) GTEST_SKIP() << "no python3";
  EXPECT_EQ(proven.status, 0) << proven.output << proven.problems;
  const Ended checked =
      run_pdsim({"validate", "--algorithm", "./ring.py", "--ranks", "3", "-d", "f32", "-o", "sum", "--max-bytes", "16"},
                examples);
  EXPECT_EQ(checked.status, 0) << checked.output << checked.problems;
}

TEST(PlanFiles, ThatAreWrongAreNeverRun) {
  const Ended proven = run_pdsim({"prove", "off_by_one.plan"}, examples);
  EXPECT_EQ(proven.status, 1);
  EXPECT_NE(proven.output.find("--> off_by_one.plan:7:3"), std::string::npos) << proven.output;
  EXPECT_NE(proven.output.find("replay   pdsim prove off_by_one.plan --ranks 2..2 --count 1"), std::string::npos);
  const std::vector<std::vector<std::string>> commands{{"validate", "--algorithm", "off_by_one.plan", "--ranks", "3"},
                                                       {"bench", "--algorithm", "off_by_one.plan", "--ranks", "3"}};
  for (const std::vector<std::string>& command : commands) {
    const Ended refused = run_pdsim(command, examples);
    EXPECT_EQ(refused.status, 2) << refused.output;
    EXPECT_EQ(refused.output, "");
    EXPECT_NE(refused.problems.find("--> off_by_one.plan:7:3"), std::string::npos) << refused.problems;
  }
  const Folder folder;
  folder.write("off_by_one.plan", text_of(examples / "off_by_one.plan"));
  folder.write("mine.yaml", scenario_with("off_by_one.plan"));
  const Ended scenario = run_pdsim({"scenario", "mine.yaml"}, folder.path());
  EXPECT_EQ(scenario.status, 2);
  EXPECT_NE(scenario.problems.find("off_by_one.plan:7:3: all_reduce off_by_one with 4 ranks"), std::string::npos)
      << scenario.problems;
}

TEST(PlanFiles, OfAScenarioAreShownWithTheLineThatIsWrong) {
  const Folder folder;
  folder.write("typo.plan", "plan all_reduce x\nchnk r -> r+1\n");
  folder.write("off_by_one.plan", text_of(examples / "off_by_one.plan"));
  folder.write("mine.yaml", scenario_with("typo.plan"));
  const Ended typo = run_pdsim({"check", "mine.yaml"}, folder.path());
  EXPECT_EQ(typo.status, 2);
  EXPECT_NE(typo.problems.find("  --> mine.yaml:7:40\n"), std::string::npos) << typo.problems;
  EXPECT_NE(typo.problems.find("  --> typo.plan:2:1\n  |\n2 | chnk r -> r+1\n  | ^^^^ did you mean `chunk`?\n"), std::string::npos)
      << typo.problems;
  folder.write("mine.yaml", scenario_with("off_by_one.plan"));
  const Ended unproven = run_pdsim({"scenario", "mine.yaml"}, folder.path());
  EXPECT_NE(unproven.problems.find("7 |   chunk r-k -> r+1\n  |   ^^^^^^^^^^^^^^^^ round 7 of rank 0\n"), std::string::npos)
      << unproven.problems;
  const Ended json = run_pdsim({"scenario", "mine.yaml", "--json"}, folder.path());
  EXPECT_NE(json.output.find(R"("cause":{"file":"off_by_one.plan","line":7,"column":3,"width":16,"hint":"round 7 of rank 0"})"),
            std::string::npos)
      << json.output;
}

TEST(PlanFiles, ThatCannotBeReadAreToldWithTheirPlace) {
  const Folder folder;
  folder.write("typo.plan", "plan all_reduce x\nchnk r -> r+1\n");
  const Ended typo = run_pdsim({"prove", "typo.plan"}, folder.path());
  EXPECT_EQ(typo.status, 2);
  EXPECT_EQ(typo.problems,
            "error[plan]: `chnk` does not begin a statement\n  --> typo.plan:2:1\n  |\n2 | chnk r -> r+1\n  | ^^^^ did "
            "you mean `chunk`?\n");
  EXPECT_NE(run_pdsim({"prove", "typo.plan", "--json"}, folder.path()).output.find("\"file\":\"typo.plan\",\"line\":"), std::string::npos);
  EXPECT_EQ(run_pdsim({"prove", "absent.plan"}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"prove", "."}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"prove", "rung"}, folder.path()).status, 2);
  EXPECT_EQ(run_pdsim({"prove", "ring", "--ranks", "3..2"}, folder.path()).status, 2);
}

TEST(PlanFiles, PointToTheLineOfTheHeaderThatIsWrong) {
  const Folder folder;
  folder.write("less.plan", "plan all_reduce less\n\nscratch p-3\ncopy input -> all\n");
  const Ended less = run_pdsim({"prove", "less.plan"}, folder.path());
  EXPECT_EQ(less.output,
            "error[plan]: rank 0 asks for -2 elements of scratch\n  --> less.plan:3:9\n  |\n3 | scratch p-3\n"
            "  |         ^^^ use 0 or more\n\nwith 1 rank, 0 elements: the smallest case that fails\n"
            "replay   pdsim prove less.plan --ranks 1..1 --count 0\n");
  for (const char* line : {"needs p > 1", "chunks 4", "scratch 3"}) {
    folder.write("late.plan", std::string("plan all_reduce late\ncopy input -> all\n") + line + "\n");
    const Ended late = run_pdsim({"prove", "late.plan"}, folder.path());
    EXPECT_EQ(late.status, 2);
    EXPECT_NE(late.problems.find("below a statement\n  --> late.plan:3:1\n"), std::string::npos) << late.problems;
    EXPECT_NE(late.problems.find("move it above the first statement"), std::string::npos) << late.problems;
  }
  folder.write("one.plan", "plan all_reduce one\ncopy input -> output[1:n+1]\n");
  EXPECT_NE(run_pdsim({"prove", "one.plan"}, folder.path()).output.find("all_reduce one with 1 rank: "), std::string::npos);
}

TEST(PlanFiles, ThatAProgramDoesNotPrintAreWrongInputAndNotCounterexamples) {
  const Folder folder;
  const auto proven = [&](const std::string& lines) {
    folder.write("rounds", "#!/bin/sh\n" + lines);
    std::filesystem::permissions(folder.path() / "rounds", std::filesystem::perms::owner_all);
    return run_pdsim({"prove", "./rounds"}, folder.path());
  };
  const std::string header = "echo 'plan all_reduce x'\n", copy = "echo 'copy input -> all'\n";
  const Ended typo = proven(header + "echo 'chnk 0 -> 1'\n");
  EXPECT_EQ(typo.status, 2);
  EXPECT_NE(typo.problems.find("2 | chnk 0 -> 1\n  | ^^^^ did you mean `chunk`?"), std::string::npos) << typo.problems;
  const Ended later = proven(header + copy + "[ $1 -gt 1 ] && echo 'chnk 0 -> 1'\ntrue\n");
  EXPECT_EQ(later.status, 2) << later.output;
  EXPECT_NE(later.problems.find("3 | chnk 0 -> 1"), std::string::npos) << later.problems;
  const Ended fails = proven("[ $1 -gt 1 ] && exit 5\n" + header + copy);
  EXPECT_EQ(fails.status, 2) << fails.output;
  EXPECT_NE(fails.problems.find("it ended with status 5"), std::string::npos) << fails.problems;
  const Ended wrong = proven(header + copy);
  EXPECT_EQ(wrong.status, 1) << wrong.problems;
  EXPECT_NE(wrong.output.find("lacks the contribution"), std::string::npos) << wrong.output;
}

TEST(PlanFiles, AreToldFromTextsLogsAndMistypedAlgorithms) {
  const Folder folder;
  folder.write("job.log", "x\n");
  const auto problem = [&](const std::string& command, const std::string& word) {
    const Ended run = run_pdsim({command, word}, folder.path());
    EXPECT_EQ(run.status, 2) << word;
    return run.problems.substr(0, run.problems.find('\n'));
  };
  EXPECT_EQ(problem("prove", "all_reduce/rnig"), "pdsim: unknown algorithm `all_reduce/rnig`; did you mean `all_reduce/ring`?");
  EXPECT_EQ(problem("prove", "no/such/rounds"), "pdsim: there is no file `no/such/rounds`");
  EXPECT_EQ(problem("explain", "/no/such/rounds"), "error[plan]: cannot read /no/such/rounds: No such file or directory");
  EXPECT_EQ(problem("explain", "./job.log"), "pdsim: `./job.log` is a log; use `pdsim diagnose ./job.log`");
  EXPECT_EQ(problem("prove", "./job.log"), "pdsim: `./job.log` is a log; use `pdsim diagnose ./job.log`");
  EXPECT_TRUE(problem("explain", "/opt/x.so: a text that nobody knows").starts_with("pdsim: no entry matches this text"));
}

TEST(PlanFiles, OfBuiltInAlgorithmsArePrintedAndProvenAgain) {
  const Folder folder;
  const Ended printed =
      run_pdsim({"prove", "all_reduce/rabenseifner", "--print", "--ranks", "5", "--count", "11"}, folder.path());
  ASSERT_EQ(printed.status, 0) << printed.problems;
  folder.write("again.plan", printed.output);
  const Ended again = run_pdsim({"prove", "again.plan", "--ranks", "5..5", "--count", "11"}, folder.path());
  EXPECT_EQ(again.status, 0) << again.output << again.problems;
}

}  // namespace
}  // namespace pdsim::cli_tests
