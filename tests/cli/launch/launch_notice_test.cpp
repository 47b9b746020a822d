// What `pdsim launch` tells of a job that gets nowhere: the rank that is behind, not one that waits for it. The job goes on.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/running.h"
#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

// The last rank but one does `what` to itself before call 3. Runs until launch has told `waits`, and then each of `more`.
void expect_told(const std::string& what, const std::string& waits, const std::vector<std::string>& more) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder, told;
  const Leftovers before;
  const auto output = told.path() / "output";
  const Running run(
      {"launch", "-n", "3", "--patience", "300ms", "--grace", "200ms", "--", PDSIM_RANK_PROCESS, what, "1", "3"},
      folder.path(), output.string());
  const bool is_told =
      soon([&] { return run.ended() || text_of(output).find("pdsim: " + waits + "\n") != std::string::npos; });
  EXPECT_TRUE(is_told);
  EXPECT_FALSE(run.ended());
  EXPECT_EQ(run.interrupted(SIGINT), 128 + SIGINT);
  const std::string text = text_of(output);
  for (const std::string& part : more)
    EXPECT_NE(text.find(part), std::string::npos) << "no `" << part << "` in:\n" << text;
  EXPECT_EQ(text.find("rank 1 waits"), std::string::npos) << text;
  EXPECT_TRUE(before.none_of(folder));
}

const std::string waits_for_one = "ranks 0, 2 wait in all_reduce #4 of group world for rank 1, which has not called it";

TEST(LaunchNotice, NamesTheRankThatSleepsAndNotThoseThatWaitForIt) {
  expect_told("sleep", waits_for_one,
              {"pdsim: no rank has ", "rank 0 waits (process ", "rank 1 is outside any collective (process ",
               "; its last call was all_reduce #3 of group world, which was done), rank 2 waits"});
}

TEST(LaunchNotice, NamesTheRankThatComputesForEver) {
  expect_told("compute", waits_for_one,
              {"pdsim: no rank has begun or ended a call for 300ms: ", "rank 1 is outside any collective (process "});
}

TEST(LaunchNotice, NamesTheRankThatIsInAnotherCall) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder, told;
  const auto output = told.path() / "output";
  const Running run(
      {"launch", "-n", "3", "--patience", "300ms", "--grace", "200ms", "--", PDSIM_RANK_PROCESS, "skip", "1", "3"},
      folder.path(), output.string());
  const std::string apart = "pdsim: rank 1 called barrier, ranks 0, 2 called all_reduce\n";
  EXPECT_TRUE(soon([&] { return run.ended() || text_of(output).find(apart) != std::string::npos; })) << text_of(output);
  EXPECT_EQ(run.interrupted(SIGINT), 128 + SIGINT);
}

// Everybody computes, and nobody waits for anybody: that is no news.
TEST(LaunchNotice, OfAJobThatComputesIsNone) {
  const Folder folder, told;
  const auto output = told.path() / "output";
  const Running run({"launch", "-n", "1", "--patience", "200ms", "--", "sh", "-c",
                     "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done"},
                    folder.path(), output.string());
  EXPECT_EQ(run.status(), 0);
  EXPECT_EQ(text_of(output), "[rank 0] done\n");
}

}  // namespace
}  // namespace pdsim::cli_tests
