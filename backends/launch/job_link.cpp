#include "backends/launch/job_link.h"

#include "backends/net/tcp_socket.h"
#include "backends/os/real_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

constexpr std::string_view no_version = "-";

// A name in the machine's memory, not in a folder: it goes with its socket.
socklen_t local_address(const JobPlace& place, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("pdsim-job-{}-{}", getuid(), place.name);
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data() + (name.size() - length), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

Descriptor local_socket() { return Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

Result<Listener> listen_in_memory(const JobPlace& place) {
  sockaddr_un address;
  const socklen_t length = local_address(place, address);
  Listener listener{local_socket(), 0};
  if (listener.fd && bind(listener.fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0 &&
      listen(listener.fd.get(), SOMAXCONN) == 0 && fcntl(listener.fd.get(), F_SETFL, O_NONBLOCK) == 0)
    return listener;
  return system_error(fmt::format("cannot meet the other ranks of {}", place.by));
}

JobHello hello_of(const JobPlace& place, bool would_serve) {
  return {job_protocol,
          place.rank,
          place.size,
          would_serve,
          place.version,
          place.name.substr(0, job_name_limit),
          place.secret.for_the_wire()};
}

Result<Descriptor> connect_once(const JobPlace& place, int port, Time deadline, const RealRuntime& clock) {
  if (!place.host.empty()) return tcp::connect_to(place.host, port, deadline, clock);
  sockaddr_un address;
  const socklen_t length = local_address(place, address);
  Descriptor fd = local_socket();
  if (fd && connect(fd.get(), reinterpret_cast<sockaddr*>(&address), length) == 0) return fd;
  return system_error("rank 0 is not there");
}

// The answer to hello. Errors: io_error (none: perhaps a stranger's port), invalid_argument (refused).
Status be_welcomed(JobLink& link, Time deadline, const RealRuntime& clock) {
  while (!link.closed) {
    link.closed = link.reader.fill(link.fd.get()) == FrameReader::State::closed;
    while (const auto frame = link.reader.next()) {
      if (frame->kind == FrameKind::welcome) {
        link.reader.allow(FrameReader::longest);
        return {};
      }
      if (frame->kind == FrameKind::goodbye)
        return Error{Code::invalid_argument, job_goodbye_of(frame->payload).why, {}};
    }
    pollfd waiting{link.fd.get(), POLLIN, 0};
    if (link.closed || clock.now() >= deadline) break;
    poll(&waiting, 1, tcp::poll_timeout(deadline, clock.now()));
  }
  return Error{Code::io_error,
               "the process that answers there is not rank 0 of this job; does another program use the port?",
               {}};
}

std::string place_of(const JobPlace& place) {
  if (place.host.empty()) return "on this machine";
  return place.ports == 1 ? fmt::format("at {}:{}", place.host, place.port)
                          : fmt::format("at {}, ports {} to {}", place.host, place.port, place.port + place.ports - 1);
}

Result<Listener> listen_once(const JobPlace& place, int port) {
  return place.host.empty() ? listen_in_memory(place) : tcp::listen_on(place.host, port);
}

// Where rank 0 wants to listen: another rank 0, of this job or another, says so; anything else is silent or talks nonsense.
std::string who_listens(const JobPlace& place) {
  const RealRuntime clock;
  const Time deadline = clock.now() + 1_s;
  auto fd = connect_once(place, place.port, deadline, clock);
  if (fd.ok()) {
    JobLink link{std::move(*fd), FrameReader(job_answer_limit), false};
    prepare_job_socket(link.fd.get());
    write_frame(link.fd.get(), FrameKind::hello, text_of(hello_of(place, true)));
    const Status answer = be_welcomed(link, deadline, clock);
    if (!answer.ok() && answer.error().code == Code::invalid_argument) return answer.error().message;
  }
  return "the port is in use by another program, or by a job that is just ending; choose another MASTER_PORT, the same "
         "on all "
         "ranks";
}

}  // namespace

std::string text_of(const JobHello& h) {
  std::string text = fmt::format("pdsim {} {} {} {} {} {}", h.protocol, h.rank, h.size, h.would_serve ? 1 : 0,
                                 h.version.empty() ? no_version : h.version, h.name);
  return text.append(1, '\0').append(h.secret);
}

Result<JobHello> job_hello_of(std::string_view text) {
  JobHello hello;
  int used = 0, would_serve = 0;
  char version[64] = "";
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "pdsim %d %d %d", &hello.protocol, &hello.rank, &hello.size) != 3)
    return Error{Code::invalid_argument, "this is not a rank of a job", {}};
  if (hello.protocol != job_protocol) return hello;
  if (std::sscanf(copy.c_str(), "pdsim %*d %*d %*d %d %63s %n", &would_serve, version, &used) != 2)
    return Error{Code::invalid_argument, "this is not a rank of a job", {}};
  hello.would_serve = would_serve != 0;
  if (version != no_version) hello.version = version;
  const std::size_t end = std::min(copy.find('\0'), copy.size());
  const std::size_t begin = std::min(static_cast<std::size_t>(used), end);
  hello.name = copy.substr(begin, end - begin);
  hello.secret = copy.substr(std::min(end + 1, copy.size()));
  return hello;
}

std::string secret_problem(const JobPlace& place, const JobHello& hello) {
  if (place.secret.matches(hello.secret)) return {};
  const std::string_view how = hello.secret.empty()   ? "has no secret, but rank 0 requires one"
                               : place.secret.empty() ? "has a secret, but rank 0 has none"
                                                      : "has a different secret than rank 0";
  return fmt::format("rank {} {}: give all ranks the same one, with PDSIM_JOIN_SECRET or --join-secret", hello.rank, how);
}

std::string text_of(const JobGoodbye& g) { return fmt::format("{} {} {}", g.status, g.kills ? 1 : 0, g.why); }

JobGoodbye job_goodbye_of(std::string_view text) {
  JobGoodbye goodbye;
  int used = 0, kills = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%d %d %n", &goodbye.status, &kills, &used) == 2)
    goodbye.why = copy.substr(std::min(static_cast<std::size_t>(used), copy.size()));
  goodbye.kills = kills != 0;
  return goodbye;
}

Result<Listener> listen_for_job(const JobPlace& place) {
  Result<Listener> listener = listen_once(place, place.port);
  for (int i = 1; i < place.ports && !listener.ok(); ++i) listener = listen_once(place, place.port + i);
  if (listener.ok()) return listener;
  std::string why = listener.error().message;
  if (fact(listener.error().facts, "errno") == std::to_string(EADDRINUSE)) why = who_listens(place);
  return Error{Code::invalid_argument,
               fmt::format("rank 0 of {} cannot listen {}{}: {}", place.size, place_of(place),
                           place.host.empty() ? "" : fmt::format(", as {} say", place.source), why),
               {}};
}

Result<JobLink> connect_to_job(const JobPlace& place, Time within) {
  constexpr Time first_pause = 10_ms, longest_pause = 500_ms, answer_within = 2_s;
  RealRuntime clock;
  Time pause = first_pause;
  Status outcome;
  for (;;) {
    for (int i = 0; i < place.ports; ++i) {
      const Time deadline = std::min(within, clock.now() + answer_within);
      auto fd = connect_once(place, place.port + i, deadline, clock);
      outcome = fd.status();
      if (!fd.ok()) continue;
      JobLink link{std::move(*fd), FrameReader(job_answer_limit), false};
      prepare_job_socket(link.fd.get());
      write_frame(link.fd.get(), FrameKind::hello, text_of(hello_of(place, false)));
      outcome = be_welcomed(link, deadline, clock);
      if (outcome.ok()) return link;
      if (outcome.error().code == Code::invalid_argument) return outcome.error();
    }
    if (clock.now() >= within) break;
    clock.sleep_until(std::min(within, clock.now() + pause));
    pause = std::min(longest_pause, pause * 2);
  }
  return Error{
      Code::rendezvous_timeout,
      fmt::format("rank {} of {} found no rank 0 {} within {} ({}). Does rank 0 run, and with the same address "
                  "and port?",
                  place.rank, place.size, place_of(place), to_string(within), outcome.error().message),
      {}};
}

void prepare_job_socket(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  tcp::notice_lost_peer(fd);
  const timeval half_a_minute{30, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &half_a_minute, sizeof half_a_minute);
}

std::string own_address(const JobLink& link) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN] = "";
  if (getsockname(link.fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
  if (address.ss_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(&address)->sin_addr, text, sizeof text);
  if (address.ss_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6*>(&address)->sin6_addr, text, sizeof text);
  return text;
}

}  // namespace pdsim
