#include "backends/net/tcp_socket.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace pdsim::tcp {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0)
    return Error{Code::io_error,
                 fmt::format("cannot resolve the host `{}`: {}", host, ::gai_strerror(failure)),
                 {{"host", host}}};
  return Addresses(found, &::freeaddrinfo);
}

Descriptor make_socket(const addrinfo& address) {
  Descriptor fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  const int on = 1;
  if (fd) notice_lost_peer(fd.get());
  if (fd) ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// With nobody listening, a loopback connection to a port of the ephemeral range can meet itself.
bool met_itself(int fd) {
  sockaddr_storage here{}, there{};
  socklen_t size_here = sizeof here, size_there = sizeof there;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size_here) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size_there) == 0 && size_here == size_there &&
         std::memcmp(&here, &there, size_here) == 0;
}

// Waits for `events`; false: the deadline passed.
bool ready(int fd, short events, Time deadline, const Runtime& clock) {
  while (true) {
    pollfd waiting{fd, events, 0};
    const int left = poll_timeout(deadline, clock.now());
    const int n = ::poll(&waiting, 1, left);
    if (n > 0 || (n < 0 && errno != EINTR)) return true;
    if (n == 0 && left == 0) return false;
  }
}

Error refused(const std::string& host, int port, int number) {
  return {Code::io_error,
          fmt::format("{}:{}: {}", host, port, std::generic_category().message(number)),
          {{"errno", std::to_string(number)}}};
}

}  // namespace

int poll_timeout(Time deadline, Time now) {
  constexpr std::int64_t ms = 1'000'000'000;
  if (deadline == Time::max()) return -1;
  if (deadline <= now) return 0;
  return static_cast<int>(std::min<std::int64_t>((deadline - now).ps / ms + 1, 1 << 30));
}

Result<Listener> listen_on(const std::string& host, int port) {
  const auto addresses = resolve(host, port, AI_PASSIVE);
  if (!addresses) return addresses.error();
  int number = EADDRNOTAVAIL;
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) {
    Descriptor fd = make_socket(*a);
    const int on = 1;
    if (fd && ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd.get(), SOMAXCONN) == 0) {
      const int chosen = port_of(fd.get());
      return Listener{std::move(fd), chosen};
    }
    number = errno;
  }
  Error error = refused(host, port, number);
  error.message = fmt::format("cannot serve the store on {}", error.message);
  error.facts.push_back({"port", std::to_string(port)});
  if (number == EADDRINUSE)
    error.message += "; another job or a leftover process uses the port. Choose another one, or 0 for a free one";
  if (number == EADDRNOTAVAIL) error.message += "; rank 0 serves the store, so the address must belong to its machine";
  return error;
}

Result<Listener> adopt_listener(int fd) {
  int listening = 0;
  socklen_t size = sizeof listening;
  if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0 || listening == 0)
    return Error{Code::invalid_argument, fmt::format("descriptor {} is not a listening socket", fd), {}};
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return Listener{Descriptor(fd), port_of(fd)};
}

Result<Descriptor> connect_to(const std::string& host, int port, Time deadline, const Runtime& clock) {
  const auto addresses = resolve(host, port, 0);
  if (!addresses) return addresses.error();
  int number = EADDRNOTAVAIL;
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) {
    Descriptor fd = make_socket(*a);
    if (!fd) return system_error("cannot make a socket");
    int outcome = ::connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0 ? 0 : errno;
    if (outcome == EINPROGRESS || outcome == EINTR) {
      socklen_t size = sizeof outcome;
      if (!ready(fd.get(), POLLOUT, deadline, clock)) return refused(host, port, ETIMEDOUT);
      if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) outcome = errno;
    }
    if (outcome == 0 && met_itself(fd.get())) outcome = ECONNREFUSED;
    if (outcome == 0) return Result<Descriptor>(std::move(fd));
    number = outcome;
  }
  return refused(host, port, number);
}

Io send_all(int fd, std::string_view bytes, Time deadline, const Runtime& clock) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EAGAIN && errno != EINTR)
      return Io::closed;
    else if (!ready(fd, POLLOUT, deadline, clock))
      return Io::late;
  }
  return Io::done;
}

Io receive(int fd, ReceiveBuffer& in, std::size_t count, Time deadline, const Runtime& clock) {
  while (in.size() < count) {
    const ReceiveBuffer::State state = in.fill(fd, count - in.size());
    if (in.size() >= count) break;
    if (state == ReceiveBuffer::State::closed) return Io::closed;
    if (!ready(fd, POLLIN, deadline, clock)) return Io::late;
  }
  return Io::done;
}

std::string address_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::getpeername(fd, generic, &length) != 0 || address.ss_family == AF_UNIX ||
      ::getnameinfo(generic, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "this machine";
  const bool six = address.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", six ? "[" : "", host, six ? "]" : "", port);
}

void notice_lost_peer(int fd) {
  const int on = 1, idle_s = 10, every_s = 5, times = 4, unanswered_ms = 30'000;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

}  // namespace pdsim::tcp
