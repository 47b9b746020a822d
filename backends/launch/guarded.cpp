#include "backends/launch/guarded.h"

#include "backends/os/posix.h"
#include "backends/os/process_tree.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace pdsim {
namespace {

sigset_t guarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&set, s);
  return set;
}

[[noreturn]] void be_launcher(const std::function<int()>& body, const sigset_t& mask, pid_t guard) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != guard) _exit(128 + SIGTERM);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  const int status = body();
  std::fflush(nullptr);
  _exit(status);
}

int wait_for(pid_t launcher, const sigset_t& signals) {
  for (;;) {
    const int signal = sigwaitinfo(&signals, nullptr);
    int status = 0;
    if (waitpid(launcher, &status, WNOHANG) == launcher)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (signal > 0 && signal != SIGCHLD) kill(launcher, signal);
  }
}

}  // namespace

Result<int> run_guarded(const std::function<int()>& body) {
  constexpr int grace_ms = 2000;
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t signals = guarded_signals();
  std::vector<pid_t> not_ours;
  for (const ProcessLook& look : processes_below(getpid())) not_ours.push_back(look.pid);
  sigset_t former;
  pthread_sigmask(SIG_BLOCK, &signals, &former);
  std::fflush(nullptr);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t guard = getpid();
  const pid_t launcher = fork();
  if (launcher == 0) be_launcher(body, former, guard);
  if (launcher < 0) {
    const Error why = system_error("cannot start a process");
    pthread_sigmask(SIG_SETMASK, &former, nullptr);
    return why;
  }
  setpgid(launcher, launcher);
  const int status = wait_for(launcher, signals);
  end_all_below(grace_ms, not_ours);
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return status;
}

}  // namespace pdsim
