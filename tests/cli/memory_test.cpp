// Commands below a limit on their memory: what would not fit is refused before it starts, and what runs out under way ends with a clear
// line and status 4.

#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

constexpr std::uint64_t mib = 1 << 20;

Ended run_below(std::uint64_t bytes, const std::vector<std::string>& arguments) {
  const Folder folder;
  RunOptions options;
  options.most_memory = bytes;
  return run_pdsim(arguments, folder.path(), options);
}

TEST(Memory, OfAPictureGoesWithItsMessages) {
  const Ended run = run_below(400 * mib, {"explain", "all_to_all/pairwise", "--ranks", "512", "--bytes", "1MiB"});
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.output.find("messages  261632"), std::string::npos) << run.output.substr(0, 500);
  EXPECT_NE(run.output.find("and 261120 messages in later rounds"), std::string::npos);
  EXPECT_LT(run.output.size(), 10'000U);
}

}  // namespace
}  // namespace pdsim::cli_tests
