#include "tests/cli/support/connections.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace pdsim::cli_tests {
namespace {

constexpr long get_descriptor = 438;  // pidfd_getfd

struct Connection {
  int fd = -1;  // ours
  std::string here, there;
  std::uint64_t acked = 0;
};

template <class Ask>
std::string end_of(int fd, Ask ask) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (ask(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 || address.sin_family != AF_INET) return {};
  return std::to_string(address.sin_addr.s_addr) + ":" + std::to_string(ntohs(address.sin_port));
}

// All of them before the first is taken: what a process takes of itself is in its own list.
std::vector<int> sockets_of(pid_t process) {
  std::vector<int> sockets;
  std::error_code gone;
  for (std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/fd", gone), end;
       !gone && at != end; at.increment(gone)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(at->path(), closed).string().rfind("socket:", 0) == 0)
      sockets.push_back(std::atoi(at->path().filename().c_str()));
  }
  return sockets;
}

void add_connections_of(pid_t process, std::vector<Connection>& all) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  for (const int number : sockets_of(process)) {
    const int fd = process == getpid() ? dup(number) : static_cast<int>(syscall(get_descriptor, pidfd, number, 0));
    Connection c{fd, end_of(fd, getsockname), end_of(fd, getpeername), 0};
    tcp_info info{};
    socklen_t length = sizeof info;
    if (c.here.empty() || c.there.empty() || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
      close(fd);
      continue;
    }
    c.acked = info.tcpi_bytes_acked;
    all.push_back(std::move(c));
  }
  close(pidfd);
}

}  // namespace

bool cut_a_connection(const std::vector<pid_t>& processes, std::uint64_t bytes) {
  std::vector<Connection> all;
  for (const pid_t process : processes) add_connections_of(process, all);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Connection& c) {
    const auto other_end = [&c](const Connection& other) { return other.here == c.there && other.there == c.here; };
    return c.acked > bytes && std::any_of(all.begin(), all.end(), other_end);
  });
  const bool cut = found != all.end() && shutdown(found->fd, SHUT_RDWR) == 0;
  for (const Connection& c : all) close(c.fd);
  return cut;
}

bool can_cut() {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const int fd = static_cast<int>(syscall(get_descriptor, pidfd, STDERR_FILENO, 0));
  for (const int ours : {pidfd, fd}) close(ours);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return fd >= 0;
}

}  // namespace pdsim::cli_tests
