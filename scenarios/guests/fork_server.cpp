#include "scenarios/guests/fork_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

// A packet that is a number; nothing: the other side has gone, or says nothing for `most_ms`.
std::optional<int> number_from(int control, int most_ms) {
  std::array<char, 32> text{};
  pollfd waiting{control, POLLIN, 0};
  if (poll(&waiting, 1, most_ms) <= 0) return std::nullopt;
  const ssize_t size = recv(control, text.data(), text.size(), 0);
  int number = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, number).ec != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace

bool ForkServer::fits(const std::vector<std::string>& command) {
  if (command.size() < 2) return false;
  const std::string& program = command.front();
  const std::string name = program.substr(program.rfind('/') + 1);
  const std::string& first = command[1];
  return name.starts_with("python") && (!first.starts_with('-') || first == "-u" || first == "-m" || first == "-c");
}

bool ForkServer::ready(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                    const sigset_t& mask, const std::function<bool(LaunchedRank&)>& wait) {
  if (std::exchange(tried_, true)) return process_.has_value();
  int ends[2];
  if (!fits(command) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  control_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  std::vector<std::string> variables = environment;
  variables.push_back(fmt::format("PDSIM_GUEST_FORK_SERVER={}", STDERR_FILENO + 1));
  auto started = LaunchedRank::start(command, -1, mask, variables, theirs.get());
  if (!started.ok()) return false;
  process_.emplace(std::move(*started));
  if (!imported(wait)) process_.reset();
  return process_.has_value();
}

bool ForkServer::imported(const std::function<bool(LaunchedRank&)>& wait) {
  while (!process_->ended()) {
    if (const auto threads = number_from(control_.get(), 0)) return *threads == 1;
    if (!wait(*process_)) return false;
  }
  return false;
}

Result<LaunchedRank> ForkServer::fork(int rank, const std::vector<std::string>& variables) {
  return LaunchedRank::adopt(rank, [&](int out, int err) { return ask(variables, out, err); });
}

Result<pid_t> ForkServer::ask(const std::vector<std::string>& variables, int out, int err) {
  constexpr int most_ms = 60'000;
  const Error gone{Code::io_error, "the interpreter that forks the ranks has ended", {}};
  std::string text;
  for (const std::string& variable : variables) text += (text.empty() ? "" : std::string(1, '\0')) + variable;
  const std::array<int, 2> streams{out, err};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof streams)> room{};
  iovec part{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof streams);
  std::memcpy(CMSG_DATA(head), streams.data(), sizeof streams);
  if (sendmsg(control_.get(), &message, MSG_NOSIGNAL) < 0) return gone;
  const auto pid = number_from(control_.get(), most_ms);
  if (!pid || *pid <= 0) return gone;
  return static_cast<pid_t>(*pid);
}

std::optional<pid_t> ForkServer::pid() const {
  return process_ ? std::optional(process_->pid()) : std::nullopt;
}

}  // namespace pdsim::scenarios::guests
