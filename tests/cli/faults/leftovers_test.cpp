// The question of the tests that kill finds what is left deliberately, and only that.

#include "tests/cli/support/leftovers.h"

#include "tests/cli/support/survivors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <netinet/in.h>
#include <string>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim::cli_tests {
namespace {

bool tells(const std::vector<std::string>& left, const std::string& what) {
  return std::any_of(left.begin(), left.end(), [&](const std::string& line) { return line.find(what) == 0; });
}

// Sleeps with the folder in its environment.
pid_t sleeper(const std::string& folder) {
  const pid_t child = fork();
  if (child != 0) return child;
  setenv("TMPDIR", folder.c_str(), 1);
  execlp("sleep", "sleep", "1000", nullptr);
  _exit(127);
}

void end(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// Bound by this process, not yet inherited by anybody.
struct Listening {
  explicit Listening(int family) : fd(socket(family, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof address;
    address.sin6_family = static_cast<sa_family_t>(family);
    bind(fd, reinterpret_cast<sockaddr*>(&address), length);
    listen(fd, 1);
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin6_port);  // lies where IPv4 has it too
  }
  int fd, port;
};

TEST(Leftovers, OfAJobThatLeavesNothingAreNone) {
  const Folder folder;
  const Leftovers before;
  end(sleeper(folder.path().string()));
  EXPECT_TRUE(before.none_of(folder));
}

TEST(Leftovers, AProcessIsFoundByItsFolder) {
  const Folder folder, other;
  const Leftovers before;
  const pid_t child = sleeper(folder.path().string());
  EXPECT_TRUE(soon([&] { return tells(before.now(folder), "process " + std::to_string(child) + " (sleep)"); }));
  EXPECT_TRUE(tells(before.now(folder), "a child of the test"));
  EXPECT_FALSE(tells(before.now(other), "process"));
  end(child);
  EXPECT_TRUE(before.none_of(folder));
}

TEST(Leftovers, AFileIsFoundUnlessItIsToBeKept) {
  const Folder folder;
  const Leftovers before;
  folder.write("core", "");
  EXPECT_TRUE(tells(before.now(folder), "file core"));
  EXPECT_FALSE(tells(before.now(folder, {"core"}), "file"));
  EXPECT_TRUE(before.none_of(folder, {"core"}));
}

TEST(Leftovers, APortIsFoundWhereAProcessOfTheJobListens) {
  for (const int family : {AF_INET, AF_INET6}) {
    const Folder folder;
    const Leftovers before;
    const Listening socket(family);
    if (socket.port == 0) continue;  // this machine has no IPv6
    const std::string port = "listening port " + std::to_string(socket.port);
    EXPECT_FALSE(tells(before.now(folder), port));  // this process is not of the job
    const pid_t child = sleeper(folder.path().string());
    close(socket.fd);
    EXPECT_TRUE(soon([&] { return tells(before.now(folder), port); }));
    end(child);
    EXPECT_TRUE(before.none_of(folder));
  }
}

TEST(Leftovers, SharedMemoryIsFoundThatNobodyHolds) {
  const Folder folder;
  const Leftovers before;
  const std::string name = "/dev/shm/pdsim-leftovers-" + std::to_string(getpid());
  const int fd = open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);  // as shm_open does
  if (fd < 0) GTEST_SKIP() << "there is no /dev/shm";
  const int segment = shmget(IPC_PRIVATE, 4096, 0600);
  void* attached = shmat(segment, nullptr, 0);
  ASSERT_NE(attached, reinterpret_cast<void*>(-1));
  EXPECT_TRUE(before.none_of(folder));  // this process holds both
  close(fd);
  shmdt(attached);
  EXPECT_TRUE(tells(before.now(folder), "shared memory " + name));
  EXPECT_TRUE(tells(before.now(folder), "shared memory System V segment " + std::to_string(segment)));
  unlink(name.c_str());
  shmctl(segment, IPC_RMID, nullptr);
  EXPECT_TRUE(before.none_of(folder));
}

}  // namespace
}  // namespace pdsim::cli_tests
