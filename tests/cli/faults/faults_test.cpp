// Jobs that cannot begin: every rank ends within the stated time and says what is wrong and what would be right, and nothing is
// left of it. The ranks are real processes, each started as by torchrun; what happens to them later is in faults_running_test.cpp.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/program_path.h"
#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <arpa/inet.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace pdsim::cli_tests {
namespace {

const std::string validate_flags =
    " validate --max-bytes 16B --collective barrier --algorithm linear --on gloo --join-within ";

// Ranks 0 to n-1, each of which runs `before` and then validates; none of them ends the others.
Ended ranks(int n, const std::string& before, const std::string& join_within = "20s",
            const std::string& program = program_path()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Folder folder;
  const Leftovers before_it;
  const std::string script =
      before + "; TMPDIR=" + folder.path().string() + " " + program + validate_flags + join_within + "; echo status $?";
  Ended run = run_pdsim({"launch", "-n", std::to_string(n), "--", "sh", "-c", script}, folder.path());
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_TRUE(before_it.none_of(folder));
  return run;
}

// `rank` said that, on standard error.
testing::AssertionResult says(const Ended& run, int rank, const std::string& what) {
  const std::string prefix = "[rank " + std::to_string(rank) + "] pdsim: ";
  std::istringstream lines(run.problems);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(prefix) && line.find(what) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "rank " << rank << " does not say `" << what << "`:\n" << run.problems;
}

testing::AssertionResult ends_with(const Ended& run, int rank, int status) {
  const std::string line = "[rank " + std::to_string(rank) + "] status " + std::to_string(status) + "\n";
  if (run.output.find(line) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no " << line << run.output << run.problems;
}

// A program that listens and never answers.
class Stranger {
 public:
  Stranger() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(fd_, generic, length) == 0 && listen(fd_, 8) == 0 && getsockname(fd_, generic, &length) == 0)
      port_ = ntohs(address.sin_port);
  }
  ~Stranger() { close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  std::string port() const { return std::to_string(port_); }

 private:
  int fd_;
  int port_ = 0;
};

TEST(Faults, AWrongAddressIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(2, "[ $RANK = 1 ] && export MASTER_ADDR=no-such-host.invalid MASTER_PORT=4711", "300ms");
  EXPECT_TRUE(says(run, 0, "1 of 2 ranks of the job joined within 300ms; missing: 1"));
  EXPECT_TRUE(says(run, 1, "rank 1 of 2 found no rank 0 at no-such-host.invalid:4711 within 300ms"));
  EXPECT_TRUE(ends_with(run, 0, 3));
  EXPECT_TRUE(ends_with(run, 1, 3));
}

// 192.0.2.0/24 is for documentation; no machine has it.
TEST(Faults, AnAddressThatIsNotRankZerosIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(2, "export MASTER_ADDR=192.0.2.77 MASTER_PORT=4711", "300ms");
  EXPECT_TRUE(says(run, 0, "rank 0 of 2 cannot listen at 192.0.2.77:4711, as MASTER_ADDR and MASTER_PORT say"));
  EXPECT_TRUE(says(run, 0, "the address must belong to its machine"));
  EXPECT_TRUE(says(run, 1, "rank 1 of 2 found no rank 0 at 192.0.2.77:4711 within 300ms"));
  EXPECT_TRUE(ends_with(run, 0, 2));
  EXPECT_TRUE(ends_with(run, 1, 3));
}

TEST(Faults, APortInUseIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Stranger stranger;
  const Ended run = ranks(2, "export MASTER_PORT=" + stranger.port(), "300ms");
  EXPECT_TRUE(says(run, 0, "rank 0 of 2 cannot listen at 127.0.0.1:" + stranger.port()));
  EXPECT_TRUE(says(run, 0, "the port is in use by another program"));
  EXPECT_TRUE(says(run, 1, "rank 1 of 2 found no rank 0 at 127.0.0.1:" + stranger.port()));
  EXPECT_TRUE(says(run, 1, "does another program use the port?"));
  EXPECT_TRUE(ends_with(run, 0, 2));
  EXPECT_TRUE(ends_with(run, 1, 3));
}

// The third may come before the job is complete, which is then off for all, or while it runs, or when it is over.
TEST(Faults, TwoRanksWithOneNumberAreTold) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(3, "export WORLD_SIZE=2; [ $RANK = 2 ] && export RANK=1", "2s");
  const bool in_time = run.problems.find("two processes claim to be rank 1 of 2") != std::string::npos;
  if (in_time) {
    for (const int rank : {0, 1, 2}) {
      EXPECT_TRUE(
          says(run, rank, "two processes claim to be rank 1 of 2: start each rank from 0 to 1 once"));
      EXPECT_TRUE(ends_with(run, rank, 2));
    }
  } else {
    const int late = run.problems.find("[rank 1]") == std::string::npos ? 2 : 1;
    const bool during =
        bool(says(run, late, "the job at rank 0 has all its 2 ranks, and this process also claims to be rank 1"));
    EXPECT_TRUE(during || says(run, late, "rank 1 of 2 found no rank 0 at 127.0.0.1:"));
    EXPECT_TRUE(ends_with(run, late, during ? 2 : 3));
    EXPECT_TRUE(ends_with(run, 0, 0));
    EXPECT_TRUE(ends_with(run, 3 - late, 0));
  }
}

// Rank 1 comes when both zeros have tried to listen: one does, and asks the other who it is.
TEST(Faults, TwoRankZerosAreTold) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(3, "export WORLD_SIZE=3; [ $RANK = 2 ] && export RANK=0", "1500ms");
  const std::string told = "two processes claim to be rank 0 of 3: start each rank from 0 to 2 once";
  for (const int rank : {0, 1, 2}) {
    EXPECT_TRUE(says(run, rank, told));
    EXPECT_TRUE(ends_with(run, rank, 2));
  }
  EXPECT_NE(run.problems.find("cannot listen at 127.0.0.1:"), std::string::npos) << run.problems;
}

TEST(Faults, AWorldSizeThatNeverFillsIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(2, "export WORLD_SIZE=4", "1500ms");
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(says(run, rank, "2 of 4 ranks of the job joined within 1.5s; missing: 2, 3."));
    EXPECT_TRUE(ends_with(run, rank, 3));
  }
}

TEST(Faults, WorldSizesThatDifferAreToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(2, "[ $RANK = 1 ] && export WORLD_SIZE=3");
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(
        says(run, rank, "rank 1 expects a world of 3 ranks, and rank 0 expects 2: set the same WORLD_SIZE"));
    EXPECT_TRUE(ends_with(run, rank, 2));
  }
}

// The same program with another version in it.
std::string with_version(const std::filesystem::path& to, const std::string& from, const std::string& other) {
  std::ifstream in(program_path(), std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  std::string bytes = all.str();
  for (const std::string& before : {std::string(1, '\0'), std::string("pdsim ")})
    for (std::size_t at = 0; (at = bytes.find(before + from, at)) != std::string::npos; ++at)
      bytes.replace(at + before.size(), from.size(), other);
  std::ofstream(to, std::ios::binary) << bytes;
  std::filesystem::permissions(to, std::filesystem::perms::owner_all);
  return to.string();
}

TEST(Faults, HalfTheRanksOfAnotherVersionAreToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Folder folder;
  std::string version = run_pdsim({"--version"}, "/").output;
  version = version.substr(6, version.size() - 7);  // "pdsim 1.2.3\n"
  std::string other = version;
  other.back() = other.back() == '9' ? '8' : '9';
  const std::string copy = with_version(folder.path() / "pdsim", version, other);
  const Ended run = ranks(4, "p=" + program_path() + "; [ $RANK -ge 2 ] && p=" + copy, "20s", "$p");
  for (const int rank : {0, 1, 2, 3}) {
    EXPECT_TRUE(says(run, rank,
                     " runs pdsim " + other + " and rank 0 pdsim " + version + ": all ranks must run the same pdsim"));
    EXPECT_TRUE(ends_with(run, rank, 2));
  }
}

TEST(Faults, AnInterfaceThatDoesNotExistIsToldOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(2, "[ $RANK = 1 ] && export GLOO_SOCKET_IFNAME=no-such0");
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(says(run, rank, "rank 1 could not begin: this machine has no network interface `no-such0`"));
    EXPECT_TRUE(says(run, rank, "which GLOO_SOCKET_IFNAME names; its interfaces with an address are lo"));
    EXPECT_TRUE(ends_with(run, rank, 3));
  }
}

TEST(Faults, DifferentCountsOfInterfacesAreAnErrorOnEveryRank) {
  if (!is_there("gloo")) GTEST_SKIP() << "there is no gloo here";
  const Ended run = ranks(3, "[ $RANK = 1 ] && export GLOO_SOCKET_IFNAME=lo,lo");
  for (const int rank : {0, 1, 2}) {
    const std::string line = "rank " + std::to_string(rank) + ": invalid-argument\n";
    EXPECT_NE(run.output.find(line), std::string::npos) << run.output;
    EXPECT_TRUE(ends_with(run, rank, 1));
  }
  EXPECT_NE(run.output.find("rank 1 of the group is to use 2 network interfaces (lo,lo), and rank"), std::string::npos)
      << run.output;
}

}  // namespace
}  // namespace pdsim::cli_tests
