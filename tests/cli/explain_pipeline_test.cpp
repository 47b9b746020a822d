// `pdsim explain` of pipeline schedules: pictures, tables, and orders of the user's own.
#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

TEST(ExplainPipeline, DrawsAScheduleAndWritesItsSvg) {
  const Folder folder;
  const Ended run = run_pdsim({"explain", "1f1b", "--stages", "2", "--microbatches", "3", "--svg", "p.svg"},
                              folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("rank 0  F0 F1 .  .  B0--- F2 B1--- .  B2---\n"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("send   deadlocks with no buffers: rank 0 waits in the send of the activation of 0F1 to "
                            "rank 1; rank 1 waits in the send of the gradient of 1B0 to rank 0"),
            std::string::npos)
      << run.output;
  EXPECT_TRUE(text_of(folder.path() / "p.svg").starts_with("<svg "));
}

TEST(ExplainPipeline, TakesAnOrderFromACsvFileAndSaysWhatIsWrongWithIt) {
  const Folder folder;
  const auto explained = [&](std::string_view csv) {
    folder.write("own.csv", csv);
    return run_pdsim({"explain", "own.csv"}, folder.path());
  };
  const Ended good = explained("0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
  EXPECT_EQ(good.status, 0) << good.problems;
  EXPECT_NE(good.output.find("own.csv\n2 stages on 2 ranks, 2 micro-batches\n"), std::string::npos) << good.output;
  const Ended doubled = explained("0F0,0F0,0B0\n");
  EXPECT_EQ(doubled.status, 2);
  EXPECT_EQ(doubled.problems,
            "pdsim: own.csv: action 2 of rank 0: 0F0 (forward of micro-batch 0 in stage 0) is there twice, first on rank "
            "0\n");
  const Ended wrong = explained("0F0,0Q0\n");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.problems.starts_with("error[pipeline]: `0Q0` is not an action")) << wrong.problems;
  EXPECT_NE(wrong.problems.find("  --> own.csv:1:5\n"), std::string::npos) << wrong.problems;
  EXPECT_EQ(explained("").status, 2);
  EXPECT_EQ(run_pdsim({"explain", "absent.csv"}, folder.path()).problems, "pdsim: cannot read absent.csv\n");
  EXPECT_EQ(run_pdsim({"explain", "."}, folder.path()).status, 2);
}

TEST(ExplainPipeline, ListsTheBubbleAgainstTheNumberOfMicrobatches) {
  const Folder folder;
  const Ended run = run_pdsim({"explain", "gpipe", "--stages", "2", "--microbatches", "1,3"}, folder.path());
  EXPECT_EQ(run.output,
            "gpipe: all forwards, then all backwards\n\n"
            "micro-batches  bubble    time        activations\n"
            "            1   50.00 %  6ms         1\n"
            "            3   25.00 %  12ms        3\n");
}

TEST(ExplainPipeline, RefusesShapesThatNoScheduleHas) {
  const Folder folder;
  const auto problem = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), "explain");
    const Ended run = run_pdsim(flags, folder.path());
    EXPECT_EQ(run.status, 2);
    return run.problems;
  };
  EXPECT_EQ(problem({"interleaved_1f1b", "--stages", "7", "--stages-per-rank", "2"}),
            "pdsim: --stages-per-rank: 7 stages do not spread evenly, 2 on each rank\n");
  EXPECT_EQ(problem({"interleaved_1f1b", "--stages", "8", "--stages-per-rank", "2", "--microbatches", "7"}),
            "pdsim: 7 micro-batches do not make whole rounds of 4 ranks: interleaved_1f1b takes 4 or 8 of them\n");
  EXPECT_EQ(problem({"1f1b", "--stages", "8", "--stages-per-rank", "2"}),
            "pdsim: 1f1b has one stage a rank; interleaved_1f1b takes several\n");
  EXPECT_EQ(problem({"1f1b", "--forward", "3x"}), "pdsim: --forward: `3x` is not a duration\n");
  EXPECT_EQ(problem({"1f2b"}), "pdsim: unknown name `1f2b`; did you mean `pdsim explain 1f1b`?\n");
}

}  // namespace
}  // namespace pdsim::cli_tests
