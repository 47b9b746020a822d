#include "backends/tcp_store/tcp_server.h"

#include "backends/net/tcp_socket.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace pdsim {
namespace {

constexpr Time accept_pause{100'000'000'000};
constexpr int accepted_a_turn = 64;
constexpr std::size_t read_a_turn = std::size_t{64} << 10;

Time later(Time now, Time span) { return span.ps <= 0 || span > Time::max() - now ? Time::max() : now + span; }

}  // namespace

Result<std::shared_ptr<TcpServer>> TcpServer::start(const std::string& host, int port, TcpServerOptions options) {
  auto listener = tcp::listen_on(host, port);
  if (!listener) return listener.error();
  return run(std::move(listener).value(), std::move(options));
}

Result<std::shared_ptr<TcpServer>> TcpServer::adopt(int listening_fd, TcpServerOptions options) {
  auto listener = tcp::adopt_listener(listening_fd);
  if (!listener) return Descriptor(listening_fd).reset(), listener.error();
  return run(std::move(listener).value(), std::move(options));
}

Result<std::shared_ptr<TcpServer>> TcpServer::run(Listener listener, TcpServerOptions options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return system_error("cannot make a pipe");
  std::shared_ptr<TcpServer> server(
      new TcpServer(std::move(listener), Descriptor(ends[0]), Descriptor(ends[1]), std::move(options)));
  // Signals belong to the threads that ask for them.
  sigset_t all, former;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  server->thread_ = std::thread([raw = server.get()] { raw->loop(); });
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return server;
}

TcpServer::TcpServer(Listener listener, Descriptor wake_read, Descriptor wake_write, TcpServerOptions options)
    : options_(std::move(options)),
      listener_(std::move(listener.fd)),
      port_(listener.port),
      wake_read_(std::move(wake_read)),
      wake_write_(std::move(wake_write)),
      service_(options_.limits.stored, options_.limits.waiting_in_all) {}

TcpServer::~TcpServer() {
  wake_write_.reset();
  if (thread_.joinable()) thread_.join();
}

TcpServer::Load TcpServer::load() const {
  const std::lock_guard lock(reading_load_);
  return load_;
}

void TcpServer::loop() {
  std::vector<pollfd> polled;
  while (true) {
    gather(polled, clock_.now() >= accept_after_);
    const bool more = std::any_of(connections_.begin(), connections_.end(), [this](const Connection& c) {
      const bool ready = c.waiting ? c.waiting->fulfilled : has_request(c) && c.out.empty();
      return ready && !c.lacks_room;
    });
    const int timeout = more ? 0 : tcp::poll_timeout(next_deadline(), clock_.now());
    const int n = ::poll(polled.data(), polled.size(), timeout);
    if (n < 0 && errno != EINTR) return;
    if (n > 0 && polled[0].revents != 0) return;
    std::size_t i = 2;
    for (Connection& c : connections_) {
      turn(c, n > 0 ? polled[i].revents : short{0});
      ++i;
    }
    for (Connection& c : connections_) settle(c);
    sweep();
    if (n > 0 && polled[1].revents != 0) accept_some();
  }
}

void TcpServer::gather(std::vector<pollfd>& polled, bool accepting) {
  polled.assign({{wake_read_.get(), POLLIN, 0}, {accepting ? listener_.get() : -1, POLLIN, 0}});
  some_lack_room_ = false;
  for (Connection& c : connections_) {
    const bool reads = readable(c) > 0 && !c.ended;
    polled.push_back({c.fd.get(), static_cast<short>((reads ? POLLIN : 0) | (c.out.empty() ? 0 : POLLOUT)), 0});
    some_lack_room_ = some_lack_room_ || c.lacks_room;
  }
}

void TcpServer::turn(Connection& c, short events) {
  if (events & POLLOUT) flush(c);
  if (events & (POLLIN | POLLHUP | POLLERR)) read(c, (events & (POLLHUP | POLLERR)) != 0);
  if (!c.greeted && !c.dead) greet(c);
  if (c.greeted && !c.admitted && !c.dead && !c.last_words) admit(c);
  serve(c);
  const bool owed = !c.out.empty() || (has_request(c) && !c.waiting);
  if (c.ended && !owed) c.dead = true;
}

Time TcpServer::next_deadline() const {
  Time next = accept_after_ > clock_.now() ? accept_after_ : Time::max();
  for (const Connection& c : connections_) {
    if (!c.waiting || !c.waiting->fulfilled) next = std::min(next, c.deadline);
    if (some_lack_room_ && c.room > 0) next = std::min(next, c.large_deadline);
  }
  return next;
}

// A whole request lies there, or something that cannot become one.
bool TcpServer::has_request(const Connection& c) const {
  if (!c.admitted || c.dead || c.last_words) return false;
  const auto size = tcp::frame_size(c.in.bytes());
  return size && (*size > tcp::max_frame || c.in.size() >= tcp::length_size + *size);
}

// How many more bytes the connection may send now.
std::size_t TcpServer::readable(const Connection& c) const {
  std::size_t most = c.admitted ? options_.limits.small : tcp::most_before_admission;
  if (c.room > 0 && c.out.empty()) most = std::max(most, tcp::length_size + c.room);
  return most - std::min(most, c.in.size());
}

bool TcpServer::take_room(Connection& c, std::size_t bytes) {
  if (bytes <= options_.limits.small || bytes <= c.room) return true;
  c.lacks_room = large_ - c.room + bytes > options_.limits.large_in_all;
  if (c.lacks_room) return false;
  large_ = large_ - c.room + bytes;
  c.room = bytes;
  c.large_deadline = later(clock_.now(), options_.limits.large_within);
  return true;
}

void TcpServer::give_room_back(Connection& c) {
  if (c.room == 0) return;
  large_ -= std::exchange(c.room, 0);
  for (Connection& other : connections_) other.lacks_room = false;
}

void TcpServer::accept_some() {
  for (int i = 0; i < accepted_a_turn; ++i) {
    Descriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (none_left && strangers_ > 0) {
        drop_oldest_stranger();
        continue;
      }
      if (none_left) accept_after_ = clock_.now() + accept_pause;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    tcp::notice_lost_peer(fd.get());
    if (strangers_ >= options_.limits.strangers) drop_oldest_stranger();
    Connection c;
    c.fd = std::move(fd);
    c.deadline = later(clock_.now(), options_.limits.hello_within);
    connections_.push_back(std::move(c));
    ++strangers_;
  }
}

// Those who are of the job say hello as soon as they are connected, so that the oldest is the least likely one.
void TcpServer::drop_oldest_stranger() {
  const auto oldest =
      std::find_if(connections_.begin(), connections_.end(), [](const Connection& c) { return !c.admitted; });
  if (oldest == connections_.end()) return;
  connections_.erase(oldest);
  --strangers_;
}

void TcpServer::read(Connection& c, bool hung_up) {
  const std::size_t most = std::min(read_a_turn, readable(c));
  if (most == 0 || c.ended) {
    c.dead = c.dead || hung_up;  // there is nobody left to answer
    return;
  }
  c.ended = c.in.fill(c.fd.get(), most) == ReceiveBuffer::State::closed;
}

void TcpServer::flush(Connection& c) {
  const ssize_t n = ::send(c.fd.get(), c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
  if (n > 0)
    c.sent += static_cast<std::size_t>(n);
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    c.dead = true;
  if (c.sent < c.out.size()) return;
  std::string().swap(c.out);
  c.sent = 0;
  give_room_back(c);
  if (c.last_words) c.dead = true;
}

void TcpServer::greet(Connection& c) {
  const std::string_view bytes = c.in.bytes();
  if (!tcp::magic.starts_with(bytes.substr(0, tcp::magic.size()))) {
    c.dead = true;  // no pdsim is speaking
    return;
  }
  if (bytes.size() < tcp::hello_size) return;
  c.greeted = true;
  c.last_words = tcp::hello_version(bytes) != tcp::protocol_version;
  c.in.skip(tcp::hello_size);
  c.out += tcp::hello();
  flush(c);
}

void TcpServer::admit(Connection& c) {
  const auto size = tcp::frame_size(c.in.bytes());
  if (!size) return;
  if (*size > Secret::longest) {
    c.dead = true;
    return;
  }
  if (c.in.size() < tcp::length_size + *size) return;
  const bool knows = options_.secret.matches(c.in.bytes().substr(tcp::length_size, *size));
  c.in.skip(tcp::length_size + *size);
  const bool full = connections_.size() - strangers_ >= options_.limits.clients;
  const tcp::Admission how = !knows ? tcp::Admission::wrong_secret
                             : full ? tcp::Admission::full
                                    : tcp::Admission::welcome;
  c.last_words = how != tcp::Admission::welcome;
  if (!c.last_words) {
    c.admitted = true;
    c.deadline = Time::max();
    --strangers_;
  }
  if (!knows && options_.refused) options_.refused(tcp::address_of_peer(c.fd.get()));
  if (c.last_words) ++refused_;
  c.out += static_cast<char>(how);
  flush(c);
}

// At most one request: others are served before its next one.
void TcpServer::serve(Connection& c) {
  if (!c.admitted || c.dead || c.last_words || c.waiting || !c.out.empty() || c.lacks_room) return;
  const auto size = tcp::frame_size(c.in.bytes());
  if (!size) return;
  if (*size > tcp::max_frame) {
    c.dead = true;
    return;
  }
  if (!take_room(c, *size) || c.in.size() < tcp::length_size + *size) return;
  auto request = tcp::decode_request(c.in.bytes().substr(tcp::length_size, *size));
  if (!request) {
    c.dead = true;
    return;
  }
  if (!take_room(c, service_.answer_bytes(*request))) return;
  c.in.skip(tcp::length_size + *size);
  if (const auto response = service_.handle(*request))
    answer(c, *response);
  else
    wait(c, std::move(*request));
}

void TcpServer::wait(Connection& c, tcp::Request request) {
  give_room_back(c);
  auto waiting = std::make_unique<StoreWait>();
  waiting->request = std::move(request);
  if (const Status begun = service_.begin(*waiting); !begun.ok()) return answer(c, begun.error());
  c.deadline = later(clock_.now(), waiting->request.timeout);
  c.waiting = std::move(waiting);
}

void TcpServer::answer(Connection& c, const Result<tcp::Response>& response) {
  c.out += tcp::encode(response);
  flush(c);
}

// Ends the wait if it is fulfilled or late.
void TcpServer::settle(Connection& c) {
  if (!c.waiting || c.dead) return;
  std::optional<Result<tcp::Response>> response;
  if (c.waiting->fulfilled && !c.lacks_room && take_room(c, service_.answer_bytes(c.waiting->request)))
    response = service_.answer(*c.waiting);
  if (!response && !c.waiting->fulfilled && c.deadline <= clock_.now()) response = service_.timed_out(*c.waiting);
  if (!response) return;
  service_.end(*c.waiting);
  c.waiting.reset();
  c.deadline = Time::max();
  answer(c, *response);
}

// Removes what is gone or late, and says how it stands.
void TcpServer::sweep() {
  Load load;
  load.refused = refused_;
  const Time now = clock_.now();
  for (auto c = connections_.begin(); c != connections_.end();) {
    const bool late =
        (!c->admitted && c->deadline <= now) || (some_lack_room_ && c->room > 0 && c->large_deadline <= now);
    if (c->dead || late) {
      if (c->waiting) service_.end(*c->waiting);
      give_room_back(*c);
      strangers_ -= c->admitted ? 0 : 1;
      c = connections_.erase(c);
      continue;
    }
    load.held += c->in.size() + c->out.size() - c->sent;
    ++c;
  }
  load.held += service_.waiting_bytes();
  load.strangers = strangers_;
  load.clients = connections_.size() - strangers_;
  const std::lock_guard lock(reading_load_);
  load_ = load;
}

}  // namespace pdsim
