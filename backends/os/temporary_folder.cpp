#include "backends/os/temporary_folder.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace pdsim {
namespace {

// Killed processes may still be writing for a moment, so once is not always enough.
void remove_with_patience(const std::string& path) {
  constexpr int most_tries = 50, pause_ms = 20;
  std::error_code failed;
  for (int i = 0; i < most_tries; ++i) {
    std::filesystem::remove_all(path, failed);
    if (!failed && !std::filesystem::exists(path, failed)) return;
    poll(nullptr, 0, pause_ms);
  }
}

// In a session of its own: what a terminal sends to the run's processes does not reach it, nor, with its signals
// blocked, does a request to end that reaches all of a job. It holds no stream of the run.
[[noreturn]] void keep(const std::string& path, int alive) {
  setsid();
  prctl(PR_SET_NAME, folder_keeper);
  if (alive != STDERR_FILENO + 1) dup2(alive, STDERR_FILENO + 1);
  close_range(STDERR_FILENO + 2, ~0U, 0);
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) close(stream);
  char nothing = 0;
  while (read(STDERR_FILENO + 1, &nothing, 1) < 0 && errno == EINTR) {
  }
  remove_with_patience(path);
  _exit(0);
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make(const std::string& in) {
  std::error_code failed;
  const std::filesystem::path base =
      in.empty() ? std::filesystem::temp_directory_path(failed) : std::filesystem::path(in);
  if (failed) return Error{Code::io_error, "there is no temporary folder: " + failed.message(), {}};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  Descriptor watched(ends[0]), alive(ends[1]);
  std::string path = (base / "pdsim-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) return system_error("cannot make a folder in " + base.string());
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);  // for the keeper, from its first moment on
  const pid_t keeper = fork();
  if (keeper == 0) keep(path, watched.get());
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  if (keeper < 0) {
    const Error why = system_error("cannot start a process");
    rmdir(path.c_str());
    return why;
  }
  return TemporaryFolder(std::move(path), std::move(alive), keeper);
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  remove_with_patience(path_);
  kill(keeper_, SIGKILL);  // also if somebody stopped it
  while (waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace pdsim
