// How a launcher ends all that lies below it.

#include "backends/os/process_tree.h"

#include "backends/os/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim {
namespace {

namespace fs = std::filesystem;

enum Verdict : int { nothing_left, a_folder_left, a_process_left, not_tried };

// A process makes a folder and is gone without a word; a child of it goes on, holds the folder, and ignores SIGTERM.
[[noreturn]] void leave_a_folder(int name_to) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) _exit(not_tried);
  if (fork() == 0) {
    std::signal(SIGTERM, SIG_IGN);
    const std::string path = folder->path();
    if (write(name_to, path.data(), path.size()) < 0) _exit(not_tried);
    for (;;) pause();
  }
  kill(getpid(), SIGKILL);
  _exit(not_tried);
}

int end_all_and_look() {
  constexpr int grace_ms = 50;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> name{};
  if (pipe2(name.data(), O_CLOEXEC) != 0) return not_tried;
  if (fork() == 0) leave_a_folder(name[1]);
  std::array<char, 256> path{};
  if (read(name[0], path.data(), path.size() - 1) <= 0) return not_tried;
  end_all_below(grace_ms);
  if (!processes_below(getpid()).empty()) return a_process_left;
  return fs::exists(path.data()) ? a_folder_left : nothing_left;
}

TEST(EndAllBelow, LetsTheKeeperOfATemporaryFolderRemoveItFirst) {
  const pid_t child = fork();
  if (child == 0) _exit(end_all_and_look());
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), nothing_left);
}

}  // namespace
}  // namespace pdsim
