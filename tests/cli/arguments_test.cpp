// The contract of the command line that holds for every subcommand.

#include "tests/cli/support/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

int lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

// The subcommands that `pdsim --help` lists.
std::vector<std::string> commands() {
  const Folder folder;
  std::istringstream help(run_pdsim({"--help"}, folder.path()).output);
  std::vector<std::string> names;
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") continue;
  while (std::getline(help, line) && line.starts_with("  ")) {
    std::istringstream words(line);
    words >> names.emplace_back();
  }
  return names;
}

TEST(Arguments, EveryCommandHasHelpWithAnExample) {
  const Folder folder;
  const std::vector<std::string> names = commands();
  ASSERT_GE(names.size(), 3U);
  for (const std::string& name : names) {
    const Ended run = run_pdsim({name, "--help"}, folder.path());
    EXPECT_EQ(run.status, 0) << name;
    EXPECT_NE(run.output.find("Example: pdsim " + name), std::string::npos) << run.output;
    EXPECT_EQ(run.problems, "") << name;
  }
}

TEST(Arguments, WrongOnesEndWithTwoAndSayHowToSeeWhatIsRight) {
  const Folder folder;
  const std::vector<std::vector<std::string>> wrong{
      {"scenariox"},
      {"--wat"},
      {"list", "--wat"},
      {"list", "--what", "colours"},
      {"list", "extra"},
      {"explain"},
      {"explain", "no-such-thing"},
  };
  for (const auto& arguments : wrong) {
    const Ended run = run_pdsim(arguments, folder.path());
    EXPECT_EQ(run.status, 2) << run.problems;
    EXPECT_EQ(run.output, "");
    EXPECT_TRUE(run.problems.starts_with("pdsim: ")) << run.problems;
    EXPECT_NE(run.problems.find("`pdsim"), std::string::npos) << run.problems;
    EXPECT_LE(lines(run.problems), 2) << run.problems;
  }
}

TEST(Arguments, NoneGiveTheHelpAndTheStatusOfWrongOnes) {
  const Folder folder;
  const Ended run = run_pdsim({}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, run_pdsim({"--help"}, folder.path()).output);
  EXPECT_EQ(run.problems, "");
}

TEST(Arguments, AMistypedCommandIsToldWhatThereIs) {
  const Folder folder;
  const Ended run = run_pdsim({"lst"}, folder.path());
  EXPECT_NE(run.problems.find("unknown command `lst`; did you mean `pdsim list`?"), std::string::npos) << run.problems;
}

TEST(Arguments, AnUnknownFirstWordGetsTheNearestCommandsAndWhereTextsGo) {
  const Folder folder;
  const auto problem = [&](const std::vector<std::string>& words) {
    const Ended run = run_pdsim(words, folder.path());
    EXPECT_EQ(run.status, 2) << words.front();
    return run.problems.substr(0, run.problems.find('\n'));
  };
  EXPECT_EQ(problem({"hang"}), "pdsim: unknown command `hang`; did you mean `pdsim explain hang`?");
  EXPECT_EQ(problem({"sc"}), "pdsim: unknown command `sc`; did you mean `pdsim scenario` or `pdsim schema`?");
  EXPECT_EQ(problem({"bucket"}), "pdsim: unknown command `bucket`; did you mean `pdsim buckets` or `pdsim explain bucket`?");
  EXPECT_EQ(problem({"why", "does", "it", "run", "forever"}),
            "pdsim: unknown command `why`; did you mean `pdsim explain \"why does it run forever\"`?");
  EXPECT_EQ(problem({"-x", "list"}),
            "pdsim: unknown option `-x`; a command comes first: pdsim COMMAND [OPTION]... [ARGUMENT]...");
  EXPECT_TRUE(problem({"frobnicate"}).starts_with("pdsim: unknown command `frobnicate`; a question or the text of an error goes to "
                                                  "`pdsim explain TEXT`, and the commands are scenario, run, "));
}

TEST(Arguments, HelpAndTheVersionComeAsWordsAndAsFlags) {
  const Folder folder;
  const auto output = [&](const std::vector<std::string>& words) {
    const Ended run = run_pdsim(words, folder.path());
    EXPECT_EQ(run.status, 0) << run.problems;
    return run.output;
  };
  EXPECT_EQ(output({"help"}), output({"--help"}));
  EXPECT_EQ(output({"help", "prove"}), output({"prove", "--help"}));
  EXPECT_EQ(output({"help", "help"}), output({"-h"}));
  EXPECT_EQ(output({"-V"}), output({"--version"}));
  EXPECT_EQ(output({"-v"}), output({"--version"}));
  EXPECT_EQ(run_pdsim({"help", "no-such-command"}, folder.path()).status, 2);
}

TEST(Arguments, AFileAScenarioOrATestOfNcclInPlaceOfACommandGetsTheCommandForIt) {
  struct Meant {
    std::string word, command;
  };
  const Folder folder;
  std::ofstream(folder.path() / "nccl_trace_rank_0") << "x";
  for (const Meant& m : {Meant{"./build/alltoall_perf", "pdsim bench --collective all_to_all"}, Meant{"train.py", "pdsim run -n 2 -- python3 train.py"},
                         Meant{"mine.yaml", "pdsim scenario mine.yaml"}, Meant{"unused_params", "pdsim scenario unused_params"},
                         Meant{"job.log", "pdsim diagnose job.log"}, Meant{"nccl_trace_rank_0", "pdsim diagnose nccl_trace_rank_0"},
                         Meant{"Connection closed by peer", "pdsim explain \"Connection closed by peer\""}}) {
    const Ended run = run_pdsim({m.word}, folder.path());
    EXPECT_EQ(run.status, 2);
    EXPECT_NE(run.problems.find(fmt::format("unknown command `{}`; did you mean `{}`?", m.word, m.command)), std::string::npos) << run.problems;
  }
}

TEST(Arguments, AFileForAnotherCommandIsToldWhatItIsAndWhichCommandTakesIt) {
  const Folder folder;
  folder.write("mine.yaml", good_scenario);
  folder.write("my job.log", "Watchdog caught collective operation timeout\n");
  folder.write("train.py", "print(1)\n");
  folder.write("nccl_trace_rank_0", "x");
  std::filesystem::create_directory(folder.path() / "dumps");
  struct Meant {
    std::vector<std::string> words;
    std::string answer;
  };
  for (const Meant& m :
       {Meant{{"diagnose", "mine.yaml"}, "`mine.yaml` is a scenario file; use `pdsim scenario mine.yaml`"},
        Meant{{"diagnose", "unused_params"}, "`unused_params` is a scenario of the catalog; use `pdsim scenario unused_params`"},
        Meant{{"diagnose", "train.py"}, "`train.py` is a script; use `pdsim run -n 2 -- python3 train.py`"},
        Meant{{"run", "nccl_trace_rank_0"}, "`nccl_trace_rank_0` is a file; use `pdsim diagnose nccl_trace_rank_0`; nothing was run"},
        Meant{{"run", "my job.log"}, "`my job.log` is a log; use `pdsim diagnose 'my job.log'`; nothing was run"},
        Meant{{"run", "train.py"}, "`train.py` is a script; use `pdsim run -n 2 -- python3 train.py`; nothing was run"},
        Meant{{"run", "unused_params"}, "`unused_params` is a scenario of the catalog; use `pdsim scenario unused_params`; nothing was run"},
        Meant{{"scenario", "dumps"}, "`dumps` is a folder; use `pdsim diagnose dumps`"},
        Meant{{"prove", "mine.yaml"}, "`mine.yaml` is a scenario file; use `pdsim scenario mine.yaml`"},
        Meant{{"explain", "nccl_trace_rank_0"}, "`nccl_trace_rank_0` is a file; use `pdsim diagnose nccl_trace_rank_0`"}}) {
    const Ended run = run_pdsim(m.words, folder.path());
    EXPECT_EQ(run.status, 2) << m.answer;
    EXPECT_EQ(run.problems.substr(0, run.problems.find('\n')), "pdsim: " + m.answer);
  }
}

TEST(Arguments, AFileThatIsNotThereIsNotToldToBeOfAnotherKind) {
  const Folder folder;
  EXPECT_EQ(run_pdsim({"diagnose", "no.yaml"}, folder.path()).problems, "pdsim: there is no file or folder no.yaml\n");
  EXPECT_EQ(run_pdsim({"run", "./no.py"}, folder.path()).problems, "pdsim: there is no program ./no.py; nothing was run\n");
}

TEST(Arguments, FlagsOfExplainThatDoNotApplyToItsSubjectAreRefused) {
  const Folder folder;
  const auto problem = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all{"explain"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended run = run_pdsim(all, folder.path());
    EXPECT_EQ(run.status, 2) << words.front();
    return run.problems;
  };
  EXPECT_EQ(problem({"unused-parameters", "--root", "2"}),
            "pdsim: --root applies to pictures of an algorithm or a plan, not to `unused-parameters`\n");
  EXPECT_EQ(problem({"bucket", "--svg", "b.svg"}),
            "pdsim: --svg applies to algorithms, plans and pipeline schedules, not to `bucket`\n");
  EXPECT_EQ(problem({"Connection closed by peer", "--ranks", "4"}),
            "pdsim: --ranks applies to pictures of an algorithm or a plan, not to `Connection closed by peer`\n");
  EXPECT_EQ(problem({"ring", "--stages", "4"}), "pdsim: --stages applies to pipeline schedules that pdsim makes, not to `ring`\n");
  EXPECT_EQ(problem({"ring", "--root", "1"}), "pdsim: --root: all_reduce has no root\n");
  EXPECT_EQ(problem({"barrier/tree", "--bytes", "1KiB"}), "pdsim: --bytes: barrier sends no data\n");
  EXPECT_EQ(problem({"1f1b", "--nodes", "2"}), "pdsim: --nodes applies to pictures of an algorithm of the table, not to `1f1b`\n");
  EXPECT_EQ(problem({"1f1b", "--microbatches", "4,8", "--svg", "p.svg"}),
            "pdsim: --svg draws one schedule; give --microbatches one number\n");
  EXPECT_TRUE(folder.names().empty());
}

TEST(Explain, NamesTheAlgorithmsThatBelongToRingAndTree) {
  const Folder folder;
  const std::string tree = run_pdsim({"explain", "what is a tree?"}, folder.path()).output;
  for (const char* name : {"broadcast/binomial", "all_reduce/double_tree", "barrier/tree"})
    EXPECT_NE(tree.find(name), std::string::npos) << name << "\n" << tree;
  EXPECT_EQ(tree.find("all_reduce/ring"), std::string::npos);
  EXPECT_NE(run_pdsim({"explain", "tree"}, folder.path()).output.find("pdsim explain tree_algorithm\n"), std::string::npos);
  EXPECT_NE(run_pdsim({"explain", "ring_algorithm"}, folder.path()).output.find("all_reduce/segmented_ring"), std::string::npos);
}

TEST(Arguments, AMistypedListIsToldWhatIsMeantOrWhatThereIs) {
  const Folder folder;
  const Ended close = run_pdsim({"list", "--what", "layer"}, folder.path());
  EXPECT_NE(close.problems.find("unknown list `layer`; did you mean `layers`?"), std::string::npos)
      << close.problems;
  const Ended far = run_pdsim({"list", "--what", "xyzzy"}, folder.path());
  EXPECT_NE(far.problems.find("unknown list `xyzzy`; expected algorithms, catalog"), std::string::npos)
      << far.problems;
}

TEST(Arguments, AnEmptyFolderNameIsWrong) {
  const Folder folder;
  const Ended run = run_pdsim({"scenario", "unused_params", "--out", ""}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_NE(run.problems.find("the folder has no name"), std::string::npos) << run.problems;
}

TEST(Output, AReaderThatLeavesIsNoError) {
  const Folder folder;
  RunOptions options;
  options.leave_output = true;
  const Ended run = run_pdsim({"list", "--what", "errors"}, folder.path(), options);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.problems, "");
}

TEST(Output, AFullDiskIsToldInOneLine) {
  const Folder folder;
  RunOptions options;
  options.output_to = "/dev/full";
  const Ended run = run_pdsim({"list", "--what", "errors"}, folder.path(), options);
  EXPECT_EQ(run.status, 4);
  EXPECT_EQ(lines(run.problems), 1) << run.problems;
}

TEST(Output, AClosedOneIsNoticedBeforeAnythingRuns) {
  const Folder folder;
  RunOptions options;
  options.close_output = true;
  const Ended run = run_pdsim({"list"}, folder.path(), options);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems, "pdsim: standard output is closed; nothing was run\n");
}

TEST(Output, HasNoColourInAPipe) {
  const Folder folder;
  const Ended run = run_pdsim({"--help"}, folder.path());
  EXPECT_EQ(run.output.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace pdsim::cli_tests
