#include "tests/cli/support/running.h"

#include "tests/cli/support/program_path.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace pdsim::cli_tests {
namespace {

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::filesystem::path& in,
                         const std::string& output, Temporary temporary, std::string program) {
  if (chdir(in.c_str()) != 0) _exit(127);
  setenv("PDSIM_TEST_FOLDER", in.c_str(), 1);
  if (temporary == Temporary::in_the_folder) setenv("TMPDIR", in.c_str(), 1);
  if (temporary == Temporary::anywhere) unsetenv("TMPDIR");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    std::signal(signal, SIG_DFL);  // a shell's `&` ignores some
  const int nowhere = open("/dev/null", O_RDWR);
  const int where = output.empty() ? nowhere : open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(nowhere, STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(where, stream);
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{program.data()};
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

}  // namespace

Running::Running(const std::vector<std::string>& arguments, const std::filesystem::path& in, const std::string& output,
                 Temporary temporary) {
  const std::string program = program_path();  // asks a process of its own, so here, not in the child
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  child_ = fork();
  if (child_ == 0) become(arguments, in, output, temporary, program);
}

bool Running::ended() const {
  siginfo_t end{};
  return waitid(P_PID, static_cast<id_t>(child_), &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

bool Running::wait_until(const std::function<bool()>& seen) const {
  while (!seen()) {
    if (ended()) return false;
    std::this_thread::yield();
  }
  return true;
}

std::int64_t Running::computed_ms() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

std::vector<pid_t> Running::children() const {
  const std::string number = std::to_string(child_);
  std::ifstream list("/proc/" + number + "/task/" + number + "/children");
  std::vector<pid_t> pids;
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

void Running::signal(int number) const { kill(child_, number); }

int Running::status() const {
  int status = 0;
  waitpid(child_, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Running::interrupted(int number) const {
  signal(number);
  return status();
}

}  // namespace pdsim::cli_tests
