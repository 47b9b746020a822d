// A world that this machine lacks: every command says so in one line, the same that doctor has, and ends with status 3.

#include "tests/cli/support/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pdsim::cli_tests {
namespace {

// What doctor says of it; empty when it works.
std::string reason_of(const std::string& world, const Folder& folder) {
  const std::string text = run_pdsim({"doctor"}, folder.path()).output;
  const std::string words = world + std::string(5 - world.size(), ' ') + " not available: ";
  const std::size_t at = text.find("\n" + words);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + 1 + words.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(AWorldThatThisMachineLacks, IsStatusThreeAndOneLineInEveryCommand) {
  const Folder folder;
  for (const std::string world : {"gloo", "mpi", "nccl"}) {
    const std::string reason = reason_of(world, folder);
    if (reason.empty()) continue;
    const std::vector<std::vector<std::string>> commands{{"scenario", "all_reduce_closed_form", "--on", world},
                                                         {"validate", "--on", world, "--ranks", "2"},
                                                         {"bench", "--on", world, "--ranks", "2"},
                                                         {"launch", "--on", world, "-n", "2", "true"}};
    for (const std::vector<std::string>& command : commands) {
      const Ended ended = run_pdsim(command, folder.path());
      EXPECT_EQ(ended.status, 3) << command.front() << " --on " << world << ": " << ended.problems;
      EXPECT_NE(ended.problems.find(reason), std::string::npos) << command.front() << ": " << ended.problems;
      EXPECT_EQ(std::count(ended.problems.begin(), ended.problems.end(), '\n'), 1) << ended.problems;
      EXPECT_EQ(ended.output, "") << command.front();
    }
  }
}

}  // namespace
}  // namespace pdsim::cli_tests
