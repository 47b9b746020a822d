#include "backends/os/posix.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace pdsim {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, s);
  return set;
}

// Between fork and exec only calls that are safe after a fork of a threaded process are allowed: no allocation, no locks.
[[noreturn]] void become(char* const* argv, char* const* environment, std::span<const Child::Inherited> inherited,
                         const sigset_t& mask, pid_t parent) {
  constexpr int lowest_free = 64;  // above every number that the child is to have
  constexpr int cannot_start = 127;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(cannot_start);
  int copies[8];
  std::size_t n = 0;
  int highest = STDERR_FILENO;
  for (const Child::Inherited& i : inherited) {
    copies[n++] = fcntl(i.from, F_DUPFD, lowest_free);
    if (i.as > highest) highest = i.as;
  }
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  n = 0;
  for (const Child::Inherited& i : inherited) {
    if (i.as < 0) dup3(copies[n], ++highest, O_CLOEXEC);
    if (i.as >= 0) dup2(copies[n], i.as);
    ++n;
  }
  const int tell = highest;
  close_range(static_cast<unsigned>(highest) + 1, ~0U, 0);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  execvpe(argv[0], argv, environment);
  const int why = errno;
  for (const Child::Inherited& i : inherited)
    if (i.as < 0) (void)!write(tell, &why, sizeof why);
  _exit(cannot_start);
}

// As exec takes them: with a null at the end.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Error system_error(std::string_view what) {
  const int code = errno;
  return {Code::io_error,
          std::string(what) + ": " + std::generic_category().message(code),
          {{"errno", std::to_string(code)}}};
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<Listener> listen_on_loopback() {
  Listener listener{Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  if (!listener.fd || bind(listener.fd.get(), generic, length) != 0 || listen(listener.fd.get(), SOMAXCONN) != 0 ||
      getsockname(listener.fd.get(), generic, &length) != 0)
    return system_error("cannot listen on the loopback interface");
  listener.port = ntohs(address.sin_port);
  return listener;
}

HeldSignals::HeldSignals() {
  const sigset_t ending = ending_signals();
  pthread_sigmask(SIG_BLOCK, &ending, &former_);
  fd_ = Descriptor(signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

HeldSignals::~HeldSignals() {
  (void)arrived();
  fd_.reset();
  // Raised while still blocked, so that every one of them is pending when the mask goes.
  for (const int signal : seen_) raise(signal);
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

bool HeldSignals::arrived() {
  signalfd_siginfo info;
  while (fd_ && read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    seen_.push_back(static_cast<int>(info.ssi_signo));
  return !seen_.empty();
}

Result<Child> Child::start(const std::vector<std::string>& argv, std::span<const Inherited> inherited,
                           const sigset_t& signal_mask, const std::vector<std::string>& environment) {
  PDSIM_CHECK(!argv.empty() && inherited.size() <= 8, "a command is needed, and at most eight descriptors");
  std::vector<std::string> words = argv, variables = environment;
  const std::vector<char*> word_list = pointers_to(words), variable_list = pointers_to(variables);
  char* const* all_variables = variables.empty() ? environ : variable_list.data();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return system_error("cannot start a process");
  if (pid == 0) become(word_list.data(), all_variables, inherited, signal_mask, parent);
  setpgid(pid, pid);  // also here, so that a signal to the group cannot come too early
  return Child(pid);
}

Child::~Child() { end(); }

const std::optional<Ended>& Child::poll() {
  if (ended_ || pid_ < 0) return ended_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return ended_;
  if (WIFSIGNALED(status)) ended_ = Ended{0, WTERMSIG(status)};
  if (WIFEXITED(status)) ended_ = Ended{WEXITSTATUS(status), 0};
  return ended_;
}

bool Child::stopped() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && name_end + 2 < text.size() &&
         (text[name_end + 2] == 'T' || text[name_end + 2] == 't');
}

void Child::signal(int number) {
  if (!ended_ && pid_ > 0) kill(-pid_, number);
}

void Child::end() {
  if (pid_ < 0 || ended_) return;
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  ended_ = Ended{0, SIGKILL};
}

}  // namespace pdsim
