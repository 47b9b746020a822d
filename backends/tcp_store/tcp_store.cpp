#include "backends/tcp_store/tcp_store.h"

#include "backends/net/tcp_socket.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {
namespace {

using tcp::Io;
using tcp::Op;
using tcp::Request;
using tcp::Response;

constexpr std::string_view init_key = "init/";
constexpr Time first_pause{10'000'000'000}, longest_pause{500'000'000'000};
// The server ends waits itself; it is taken for dead only when it is this late.
constexpr Time grace{5'000'000'000'000};

std::string normal(std::string_view key) { return std::string("/").append(key); }

std::vector<std::string> normal(std::span<const std::string> keys) {
  std::vector<std::string> all;
  all.reserve(keys.size());
  for (const std::string& key : keys) all.push_back(normal(key));
  return all;
}

Time after(Time now, Time span) { return span.ps <= 0 || span > Time::max() - now ? Time::max() : now + span; }

}  // namespace

Result<std::unique_ptr<TcpStore>> TcpStore::open(TcpStoreOptions options) {
  if (options.port < 0 || options.port > 65535)
    return Error{Code::invalid_argument, fmt::format("the port is {}, and must be in 0..65535", options.port), {}};
  if (options.serve && !options.server) {
    auto server = options.listening_fd >= 0 ? TcpServer::adopt(options.listening_fd, {options.secret, {}, {}})
                                            : TcpServer::start(options.host, options.port, {options.secret, {}, {}});
    if (!server) return server.error();
    options.server = std::move(server).value();
  }
  if (options.server) options.port = options.server->port();
  std::unique_ptr<TcpStore> store(new TcpStore(std::move(options)));
  PDSIM_TRY(store->connect());
  PDSIM_TRY(store->join());
  return store;
}

TcpStore::TcpStore(TcpStoreOptions options) : options_(std::move(options)) { set_timeout(options_.timeout); }

Status TcpStore::connect() {
  const Time deadline = after(clock_.now(), options_.timeout);
  Time pause = first_pause;
  std::string why;
  for (int attempt = 1;; ++attempt) {
    auto fd = tcp::connect_to(options_.host, options_.port, deadline, clock_);
    Status outcome = fd.status();
    if (fd) outcome = greet(*fd, deadline);
    if (outcome) {
      fd_ = std::move(*fd);
      return {};
    }
    if (outcome.error().code == Code::unsupported || outcome.error().code == Code::invalid_argument) return outcome;
    const Time now = clock_.now();
    if (why.empty() || now < deadline) why = outcome.error().message;  // not that the last attempt had no time left
    if (now >= deadline)
      return Error{
          Code::rendezvous_timeout,
          fmt::format("no store served at {}:{} within {}, after {} attempts; the last one: {}. Does rank 0 run, "
                      "and with the same address and port?",
                      options_.host, options_.port, to_string(options_.timeout), attempt, why),
          {{"host", options_.host}, {"port", std::to_string(options_.port)}}};
    clock_.sleep_until(std::min(deadline, now + pause));
    pause = std::min(longest_pause, pause * 2);
  }
}

Status TcpStore::greet(Descriptor& fd, Time deadline) {
  in_ = {};
  Io io = tcp::send_all(fd.get(), tcp::hello(), deadline, clock_);
  // Byte by byte, for a foreign server may say less than a hello, and then wait.
  for (std::size_t size = 1; io == Io::done && size <= tcp::hello_size; ++size) {
    io = tcp::receive(fd.get(), in_, size, deadline, clock_);
    if (!tcp::magic.starts_with(in_.bytes().substr(0, tcp::magic.size())))
      return Error{Code::unsupported,
                   fmt::format("the process that answers at {}:{} is not pdsim's store: another program uses the port",
                               options_.host, options_.port),
                   {{"port", std::to_string(options_.port)}}};
  }
  if (io != Io::done) return no_hello(io);
  const auto version = tcp::hello_version(in_.bytes());
  in_.skip(tcp::hello_size);
  if (version == tcp::protocol_version) return be_admitted(fd.get(), deadline);
  return Error{
      Code::unsupported,
      fmt::format("the store at {}:{} speaks version {} of the store protocol and this rank version {}: all "
                  "ranks must run the same pdsim",
                  options_.host, options_.port, *version, tcp::protocol_version),
      {{"server_version", std::to_string(*version)}, {"client_version", std::to_string(tcp::protocol_version)}}};
}

Status TcpStore::be_admitted(int fd, Time deadline) {
  Io io = tcp::send_all(fd, tcp::offer(options_.secret.for_the_wire()), deadline, clock_);
  if (io == Io::done) io = tcp::receive(fd, in_, 1, deadline, clock_);
  if (io != Io::done) return no_hello(io);
  const auto how = static_cast<tcp::Admission>(in_.bytes().front());
  in_.skip(1);
  if (how == tcp::Admission::welcome) return {};
  if (how == tcp::Admission::full) return Error{Code::io_error, "it has its maximum number of clients", {}};
  return Error{Code::invalid_argument,
               fmt::format("the store at {}:{} refused this rank: {}; all ranks need the same secret, or none",
                           options_.host, options_.port,
                           options_.secret.empty() ? "it requires a secret, and this rank has none"
                                                   : "its secret differs from this rank's, or it has none"),
               {{"port", std::to_string(options_.port)}}};
}

Error TcpStore::no_hello(Io io) const {
  return {Code::io_error, io == Io::closed ? "the connection was closed at once" : "it did not answer", {}};
}

Status TcpStore::join() {
  if (options_.world_size <= 0 || !options_.wait_for_workers) return {};
  const std::vector<std::string> key{std::string(init_key)};
  if (auto counted = exchange({Op::add, {}, 1, key}); !counted) return counted.error();
  if (!options_.serve) return {};
  const auto all = exchange({Op::wait_count, options_.timeout, options_.world_size, key}, true);
  if (all || all.error().code != Code::store_timeout) return all.status();
  const std::string joined(fact(all.error().facts, "count"));
  return Error{Code::rendezvous_timeout,
               fmt::format("{} of {} clients joined the store at {}:{} within {}", joined, options_.world_size,
                           options_.host, options_.port, to_string(options_.timeout)),
               {{"joined", joined}, {"world_size", std::to_string(options_.world_size)}}};
}

Status TcpStore::set(std::string_view key, std::string_view value) {
  return exchange({Op::set, {}, 0, {normal(key), std::string(value)}}).status();
}

Result<std::string> TcpStore::get(std::string_view key) {
  auto response = exchange({Op::get, timeout(), 0, {normal(key)}}, true);
  if (!response) return response.error();
  return response->texts.empty() ? Result<std::string>(lost("it sent an invalid answer")) : response->texts[0];
}

Result<std::int64_t> TcpStore::add(std::string_view key, std::int64_t delta) {
  const auto response = exchange({Op::add, {}, delta, {normal(key)}});
  return response ? Result<std::int64_t>(response->number) : response.error();
}

Result<std::string> TcpStore::compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  auto response = exchange({Op::compare_set, {}, 0, {normal(key), std::string(expected), std::string(desired)}});
  if (!response) return response.error();
  return response->texts.empty() ? Result<std::string>(lost("it sent an invalid answer")) : response->texts[0];
}

Result<bool> TcpStore::check(std::span<const std::string> keys) {
  const auto response = exchange({Op::check, {}, 0, normal(keys)});
  return response ? Result<bool>(response->number != 0) : response.error();
}

Status TcpStore::wait(std::span<const std::string> keys, Time timeout) {
  return exchange({Op::wait, timeout, 0, normal(keys)}, true).status();
}

Result<bool> TcpStore::delete_key(std::string_view key) {
  const auto response = exchange({Op::delete_key, {}, 0, {normal(key)}});
  return response ? Result<bool>(response->number != 0) : response.error();
}

Result<std::int64_t> TcpStore::num_keys() {
  const auto response = exchange({Op::num_keys, {}, 0, {}});
  return response ? Result<std::int64_t>(response->number) : response.error();
}

Status TcpStore::append(std::string_view key, std::string_view value) {
  return exchange({Op::append, {}, 0, {normal(key), std::string(value)}}).status();
}

Status TcpStore::close() {
  fd_.reset();
  options_.server.reset();
  return {};
}

Result<Response> TcpStore::exchange(const Request& request, bool waits) {
  if (!fd_) return lost("this handle no longer has a connection");
  const std::string frame = tcp::encode(request);
  if (frame.size() > tcp::max_frame)
    return Error{Code::limit_exceeded,
                 fmt::format("a store request of {} bytes; the limit is {}", frame.size(), tcp::max_frame),
                 {}};
  if (request.texts.size() > tcp::max_texts)
    return Error{Code::limit_exceeded,
                 fmt::format("a store request with {} keys; the limit is {}", request.texts.size(), tcp::max_texts),
                 {}};
  Time deadline = after(clock_.now(), waits ? request.timeout : timeout());
  if (deadline != Time::max()) deadline += grace;
  Io io = tcp::send_all(fd_.get(), frame, deadline, clock_);
  if (io == Io::done) io = tcp::receive(fd_.get(), in_, tcp::length_size, deadline, clock_);
  const std::size_t size = io == Io::done ? *tcp::frame_size(in_.bytes()) : 0;
  if (size > tcp::max_frame) return lost("it sent an invalid answer");
  if (io == Io::done) io = tcp::receive(fd_.get(), in_, tcp::length_size + size, deadline, clock_);
  if (io == Io::closed) return lost("the process that serves it ended, or closed the connection");
  if (io == Io::late) return lost("it does not answer");
  auto response = tcp::decode_response(in_.bytes().substr(tcp::length_size, size));
  in_.skip(tcp::length_size + size);
  return response ? std::move(*response) : lost("it sent an invalid answer");
}

Error TcpStore::lost(std::string_view why) {
  fd_.reset();
  return {Code::store_closed,
          fmt::format("the store at {}:{} is gone: {}", options_.host, options_.port, why),
          {{"host", options_.host}, {"port", std::to_string(options_.port)}}};
}

}  // namespace pdsim
