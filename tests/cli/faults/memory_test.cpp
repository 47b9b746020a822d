// Commands below a limit on their memory: what would not fit is refused before it starts, and what runs out under way ends with a clear
// line and status 4.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_work = false;  // the sanitizer maps terabytes
#else
constexpr bool limits_work = true;
#endif

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    if (!limits_work) GTEST_SKIP() << "a sanitizer maps more than any limit";
  }
};

Ended run_below(std::uint64_t bytes, const std::vector<std::string>& arguments) {
  const Folder folder;
  RunOptions options;
  options.most_memory = bytes;
  return run_pdsim(arguments, folder.path(), options);
}

TEST_F(Memory, OfAPictureGoesWithItsMessages) {
  const Ended run = run_below(400 * mebibyte, {"explain", "all_to_all/pairwise", "--ranks", "512", "--bytes", "1MiB"});
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("messages  261632"), std::string::npos) << run.output.substr(0, 500);
  EXPECT_NE(run.output.find("and 261120 messages in later rounds"), std::string::npos);
  EXPECT_LT(run.output.size(), 10'000U);
}

void expect_out_of_memory(const Ended& run, const std::string& words) {
  EXPECT_EQ(run.status, 4) << run.problems;
  EXPECT_NE(run.problems.find("out of memory: " + words), std::string::npos) << run.problems;
  EXPECT_EQ(std::count(run.problems.begin(), run.problems.end(), '\n'), 1) << run.problems;
}

TEST_F(Memory, OfTooManyRanksIsMissingBeforeTheyStart) {
  expect_out_of_memory(
      run_below(900 * mebibyte, {"bench", "--ranks", "4000", "--payload", "none"}),
      "4000 simulated ranks need at least 1.272GiB of address space, and the limit of its address space "
      "(ulimit -v) leaves ");
  expect_out_of_memory(run_below(8000 * mebibyte, {"bench", "--ranks", "1048576", "--payload", "none"}),
                       "1048576 simulated ranks need at least ");
}

TEST_F(Memory, ThatRunsOutInARankEndsWithAClearLine) {
  for (const char* payload : {"64MiB", "256MiB"})
    expect_out_of_memory(run_below(300 * mebibyte, {"bench", "--ranks", "2", "-b", payload, "-e", payload}),
                         "the machine or its limits");
}

// From hardly enough for the program itself up to enough: it never ends in another way.
TEST_F(Memory, ThatRunsOutAnywhereEndsWithFour) {
  int ran = 0, ended = 0;
  for (std::uint64_t most = 40; most <= 120; most += 8) {
    const Ended run =
        run_below(most * mebibyte, {"bench", "--ranks", "64", "--payload", "none", "-b", "1KiB", "-e", "1KiB"});
    if (run.status == 127) continue;  // the loader could not map the program
    ++(run.status == 0 ? ran : ended);
    if (run.status != 0) expect_out_of_memory(run, "");
  }
  EXPECT_GT(ran, 0);
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace pdsim::cli_tests
