// Completion in a shell, and the manual page.

#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

std::string completed(std::vector<std::string> words) {
  const Folder folder;
  words.insert(words.begin(), {"complete", "--"});
  const Ended run = run_pdsim(words, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  return run.output;
}

TEST(Completion, GivesCommandsOptionsAndTheNamesOfTables) {
  EXPECT_EQ(completed({"di"}), "diagnose\n");
  EXPECT_EQ(completed({"he"}), "help\n");
  EXPECT_EQ(completed({"help", "di"}), "diagnose\n");
  EXPECT_EQ(completed({"scenario", "--o"}), "--on\n--out\n");
  EXPECT_EQ(completed({"scenario", "unused_params", "--on", ""}), "gloo\nmpi\nnccl\nsim\n");
  EXPECT_EQ(completed({"run", "--on", ""}), "real\nsim\n");
  EXPECT_EQ(completed({"launch", "--on", ""}), "gloo\nmpi\nnccl\n");
  EXPECT_EQ(completed({"bench", "--sharing", ""}), "links\nnone\nports\n");
  EXPECT_EQ(completed({"run", "--backend", "n"}), "nccl\n");
  EXPECT_EQ(completed({"check", "unused_p"}), "unused_params\n");
  EXPECT_EQ(completed({"explain", "unused"}), "unused-parameters\nunused_params\n");
  EXPECT_EQ(completed({"list", "--what", "co"}), "collectives\nconcepts\n");
  EXPECT_EQ(completed({"lab", "1"}), "1\n10\n");
  EXPECT_EQ(completed({"lab", "1", "--lang", ""}), "en\nzh\n");
  EXPECT_EQ(completed({"scenario", "unused_params", "--variant", "fix"}), "fixed\n");
  EXPECT_EQ(completed({"check", "no_such_file", "--variant", ""}), "");
  EXPECT_EQ(completed({"buckets", "--profile", "pytorch-2"}), "pytorch-2.14\npytorch-2.6\n");
  EXPECT_EQ(completed({"diagnose", "--form", ""}), "json\npickle\n");
  EXPECT_EQ(completed({"bench", "-o", "p"}), "premul_sum\nproduct\n");
  EXPECT_EQ(completed({"bench", "-d", "bf"}), "bf16\n");
  EXPECT_EQ(completed({"prove", "all_reduce/rin"}), "all_reduce/ring\n");
  EXPECT_EQ(completed({"scenariox", ""}), "");
  EXPECT_EQ(completed({"launch", "-n", "2", "--", "./train", "--o"}), "") << "the program's own options";
}

TEST(Completion, GivesValuesBehindAnEqualsSignToo) {
  EXPECT_EQ(completed({"bench", "--on=g"}), "--on=gloo\n") << "one word in zsh and fish";
  EXPECT_EQ(completed({"run", "--on="}), "--on=real\n--on=sim\n");
  EXPECT_EQ(completed({"bench", "--on", "="}), "gloo\nmpi\nnccl\nsim\n") << "three words in bash";
  EXPECT_EQ(completed({"bench", "--on", "=", "g"}), "gloo\n");
  EXPECT_EQ(completed({"scenario", "unused_params", "--variant=fix"}), "--variant=fixed\n");
  EXPECT_EQ(completed({"scenario", "--no-such=un"}), "");
  EXPECT_EQ(completed({"scenario", "--quiet=un"}), "") << "takes no value";
}

TEST(Completion, ListsTheFilesThatAnArgumentTakes) {
  const Folder folder;
  for (const char* name : {"mine.plan", "mine.yaml", "mine.svg", "mine.txt", "mine.csv"}) folder.write(name, "x");
  std::filesystem::create_directory(folder.path() / "mine_too");
  folder.write("mine_too/deep.plan", "x");
  const auto here = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"complete", "--"};
    all.insert(all.end(), words.begin(), words.end());
    return run_pdsim(all, folder.path()).output;
  };
  EXPECT_EQ(here({"prove", "mi"}), "mine.plan\nmine_too/\n");
  EXPECT_EQ(here({"prove", "mine_too/"}), "mine_too/deep.plan\n");
  EXPECT_EQ(here({"bench", "--algorithm", "mi"}), "mine.plan\nmine_too/\n");
  EXPECT_EQ(here({"scenario", "mi"}), "mine.yaml\nmine_too/\n");
  EXPECT_EQ(here({"explain", "mine"}), "mine.csv\nmine.plan\nmine_too/\n");
  EXPECT_EQ(here({"scenario", "--out", "mi"}), "mine_too/\n");
  EXPECT_EQ(here({"explain", "--svg", "mi"}), "mine.svg\nmine_too/\n");
}

TEST(Completion, LeavesOutWhatIsStartedByPdsimItself) {
  EXPECT_EQ(completed({"complet"}), "completion\n");
  EXPECT_EQ(completed({"ran"}), "");
}

// Runs bash as a user's shell does: the script is evaluated, and its function asked for the words of a command line.
TEST(Completion, WorksInBash) {
  const std::string command_path = program_path();
  const std::string command = "bash -c 'eval \"$(" + command_path + " completion bash)\"; COMP_WORDS=(" + command_path +
                              " scenario barrier_h); COMP_CWORD=2; _pdsim; echo \"${COMPREPLY[*]}\"'";
  FILE* shell = popen(command.c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string printed;
  for (int c = fgetc(shell); c != EOF; c = fgetc(shell)) printed += static_cast<char>(c);
  EXPECT_EQ(pclose(shell), 0);
  EXPECT_EQ(printed, "barrier_hang\n");
}

TEST(Completion, KnowsTheShellsThatItHasAScriptFor) {
  const Folder folder;
  for (const char* shell : {"bash", "fish", "zsh"}) {
    const Ended run = run_pdsim({"completion", shell}, folder.path());
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.output.find(" complete -- "), std::string::npos) << run.output;
  }
  const Ended wrong = run_pdsim({"completion", "tcsh"}, folder.path());
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.problems.find("unknown shell `tcsh`; expected bash, fish or zsh"), std::string::npos) << wrong.problems;
}

TEST(ManualPage, HasEveryCommandWithItsOptions) {
  const Folder folder;
  const Ended run = run_pdsim({"man"}, folder.path());
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.output.starts_with(".TH PDSIM 1 ")) << run.output.substr(0, 80);
  for (const char* part : {".SS pdsim scenario\n", ".SS pdsim diagnose\n", "\\fB\\-\\-check\\-determinism\\fR", ".SH EXIT STATUS\n"})
    EXPECT_NE(run.output.find(part), std::string::npos) << part;
  EXPECT_EQ(run.output.find("pdsim rank\n"), std::string::npos) << "it is started by pdsim itself";
}

}  // namespace
}  // namespace pdsim::cli_tests
