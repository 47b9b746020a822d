#include "backends/local/tcp_server.h"

#include "backends/local/tcp_socket.h"
#include "core/store/store_errors.h"

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

using tcp::Op;
constexpr Time hello_time{30'000'000'000'000};
constexpr Time accept_pause{100'000'000'000};
constexpr std::size_t length_bytes = 4;
constexpr std::size_t listed_keys = 1000;  // for "the nearest key"

std::string without_prefix(const std::string& key) { return key.starts_with('/') ? key.substr(1) : key; }

}  // namespace

Result<std::shared_ptr<TcpServer>> TcpServer::start(const std::string& host, int port) {
  auto listener = tcp::listen_on(host, port);
  if (!listener) return listener.error();
  return run(std::move(listener).value());
}

Result<std::shared_ptr<TcpServer>> TcpServer::adopt(int listening_fd) {
  auto listener = tcp::adopt_listener(listening_fd);
  if (!listener) return Descriptor(listening_fd).reset(), listener.error();
  return run(std::move(listener).value());
}

Result<std::shared_ptr<TcpServer>> TcpServer::run(Listener listener) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return system_error("cannot make a pipe");
  std::shared_ptr<TcpServer> server(new TcpServer(std::move(listener), Descriptor(ends[0]), Descriptor(ends[1])));
  // Signals belong to the threads that ask for them.
  sigset_t all, former;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  server->thread_ = std::thread([raw = server.get()] { raw->loop(); });
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return server;
}

TcpServer::TcpServer(Listener listener, Descriptor wake_read, Descriptor wake_write)
    : listener_(std::move(listener.fd)),
      port_(listener.port),
      wake_read_(std::move(wake_read)),
      wake_write_(std::move(wake_write)) {}

TcpServer::~TcpServer() {
  wake_write_.reset();
  if (thread_.joinable()) thread_.join();
}

void TcpServer::loop() {
  std::vector<pollfd> polled;
  while (true) {
    const bool accepting = clock_.now() >= accept_after_;
    polled.assign({{wake_read_.get(), POLLIN, 0}, {accepting ? listener_.get() : -1, POLLIN, 0}});
    for (const Connection& c : connections_) {
      const bool room = c.in.size() < tcp::max_frame + length_bytes;
      polled.push_back({c.fd.get(), static_cast<short>((room ? POLLIN : 0) | (c.out.empty() ? 0 : POLLOUT)), 0});
    }
    const int n = ::poll(polled.data(), polled.size(), tcp::poll_timeout(next_deadline(), clock_.now()));
    if (n < 0 && errno != EINTR) return;
    if (n > 0 && polled[0].revents != 0) return;
    std::size_t i = 2;
    for (Connection& c : connections_) {
      const short events = n > 0 ? polled[i].revents : short{0};
      ++i;
      if (events & POLLOUT) flush(c);
      if (events & (POLLIN | POLLHUP | POLLERR)) read(c);
      serve(c);
    }
    settle();
    std::erase_if(connections_, [](const Connection& c) { return c.dead; });
    if (n > 0 && polled[1].revents != 0) accept_all();
  }
}

Time TcpServer::next_deadline() const {
  Time next = accept_after_ > clock_.now() ? accept_after_ : Time::max();
  for (const Connection& c : connections_) next = std::min(next, c.deadline);
  return next;
}

void TcpServer::accept_all() {
  while (true) {
    Descriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        accept_after_ = clock_.now() + accept_pause;
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection c;
    c.fd = std::move(fd);
    c.deadline = clock_.now() + hello_time;
    connections_.push_back(std::move(c));
  }
}

void TcpServer::read(Connection& c) {
  std::array<char, 1 << 16> block;
  const ssize_t n = ::recv(c.fd.get(), block.data(), block.size(), 0);
  if (n > 0)
    c.in.append(block.data(), static_cast<std::size_t>(n));
  else if (n == 0 || (errno != EAGAIN && errno != EINTR))
    c.dead = true;
}

void TcpServer::flush(Connection& c) {
  const ssize_t n = ::send(c.fd.get(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
  if (n > 0)
    c.out.erase(0, static_cast<std::size_t>(n));
  else if (n < 0 && errno != EAGAIN && errno != EINTR)
    c.dead = true;
  if (c.out.empty() && c.last_words) c.dead = true;
}

void TcpServer::greet(Connection& c) {
  if (!tcp::magic.starts_with(std::string_view(c.in).substr(0, tcp::magic.size()))) {
    c.dead = true;  // no pdsim is speaking
    return;
  }
  if (c.in.size() < tcp::hello_size) return;
  c.greeted = true;
  c.deadline = Time::max();
  c.last_words = tcp::hello_version(c.in) != tcp::protocol_version;
  c.in.erase(0, tcp::hello_size);
  c.out += tcp::hello();
  flush(c);
}

void TcpServer::serve(Connection& c) {
  if (!c.greeted && !c.dead) greet(c);
  // A client that does not read its answer gets no further ones: its buffers stay bounded.
  while (c.greeted && !c.dead && !c.last_words && !c.waiting && c.out.empty()) {
    const auto size = tcp::frame_size(c.in);
    if (!size) return;
    if (*size > tcp::max_frame) {
      c.dead = true;
      return;
    }
    if (c.in.size() < length_bytes + *size) return;
    auto request = tcp::decode_request(std::string_view(c.in).substr(length_bytes, *size));
    c.in.erase(0, length_bytes + *size);
    if (!request) {
      c.dead = true;
      return;
    }
    if (const auto response = handle(*request)) {
      answer(c, *response);
    } else {
      const Time now = clock_.now();
      c.deadline =
          request->timeout.ps <= 0 || request->timeout > Time::max() - now ? Time::max() : now + request->timeout;
      c.waiting = std::move(*request);
    }
  }
}

void TcpServer::answer(Connection& c, const Result<tcp::Response>& response) {
  c.out += tcp::encode(response);
  flush(c);
}

std::optional<Result<tcp::Response>> TcpServer::handle(const tcp::Request& r) {
  const auto& t = r.texts;
  const auto says = [](std::int64_t number, std::vector<std::string> texts = {}) {
    return Result<tcp::Response>(tcp::Response{number, std::move(texts)});
  };
  changed_ = changed_ || r.op == Op::set || r.op == Op::add || r.op == Op::compare_set || r.op == Op::append;
  switch (r.op) {
    case Op::set:
      keys_.set(t[0], t[1]);
      return says(0);
    case Op::append: {
      const std::string* now = keys_.find(t[0]);
      if (now && now->size() + t[1].size() > tcp::max_value)
        return Result<tcp::Response>(Error{Code::limit_exceeded,
                                           fmt::format("the value of key `{}` would have more than {} bytes",
                                                       shown(without_prefix(t[0]), 80), tcp::max_value),
                                           {}});
      keys_.append(t[0], t[1]);
      return says(0);
    }
    case Op::compare_set:
      return says(0, {keys_.compare_set(t[0], t[1], t[2])});
    case Op::check:
      return says(keys_.missing(t).empty() ? 1 : 0);
    case Op::delete_key:
      return says(keys_.erase(t[0]) ? 1 : 0);
    case Op::num_keys:
      return says(keys_.size());
    case Op::add: {
      const std::string* now = keys_.find(t[0]);
      const auto sum = add_to_decimal(without_prefix(t[0]), now ? *now : "", r.number);
      if (!sum) return Result<tcp::Response>(sum.error());
      keys_.set(t[0], std::to_string(*sum));
      return says(*sum);
    }
    case Op::get:
    case Op::wait:
    case Op::wait_count:
    case Op::count_:
      break;
  }
  return try_waiting(r);
}

std::optional<Result<tcp::Response>> TcpServer::try_waiting(const tcp::Request& r) {
  if (r.op == Op::wait_count) {
    const auto count = add_to_decimal(r.texts[0], keys_.find(r.texts[0]) ? *keys_.find(r.texts[0]) : "", 0);
    if (!count) return Result<tcp::Response>(count.error());
    return *count < r.number ? std::nullopt : std::optional(Result<tcp::Response>(tcp::Response{*count, {}}));
  }
  for (const std::string& key : r.texts)
    if (!keys_.find(key)) return std::nullopt;
  if (r.op == Op::wait) return Result<tcp::Response>(tcp::Response{});
  return Result<tcp::Response>(tcp::Response{0, {*keys_.find(r.texts[0])}});
}

Error TcpServer::wait_timed_out(const tcp::Request& r) const {
  if (r.op == Op::wait_count) {
    const std::string* count = keys_.find(r.texts[0]);
    return {Code::store_timeout, "the count was not reached", {{"count", count ? *count : "0"}}};
  }
  std::vector<std::string> missing = keys_.missing(r.texts);
  std::transform(missing.begin(), missing.end(), missing.begin(), without_prefix);
  return key_timeout(missing, r.timeout, keys_.keys("/", listed_keys));
}

// Ends the waits that are fulfilled or late; what their clients sent meanwhile may fulfil others.
void TcpServer::settle() {
  do {
    const bool look = std::exchange(changed_, false);
    for (Connection& c : connections_) {
      const bool late = c.deadline <= clock_.now();
      if (!c.greeted && late) c.dead = true;
      if (c.dead || !c.waiting || !(look || late)) continue;
      auto response = try_waiting(*c.waiting);
      if (!response && late) response = Result<tcp::Response>(wait_timed_out(*c.waiting));
      if (!response) continue;
      c.waiting.reset();
      c.deadline = Time::max();
      answer(c, *response);
      serve(c);
    }
  } while (changed_);
}

}  // namespace pdsim
