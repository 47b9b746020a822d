#include "backends/http/fetch.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace pdsim {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Failure = boost::system::error_code;

std::string in_seconds(Time limit) { return to_string(limit); }

// One request, which keeps itself alive until it is over.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(asio::io_context& context, const HttpRequest& request, const HttpLimits& limits, HttpReply& reply,
           std::function<void()> over)
      : resolver_(context),
        stream_(context),
        timer_(context),
        limit_(limits.each),
        reply_(reply),
        over_(std::move(over)),
        to_(request.to) {
    message_.method(request.is_post ? http::verb::post : http::verb::get);
    message_.target(request.target);
    message_.version(11);
    message_.set(http::field::host, request.to.host);
    message_.set(http::field::user_agent, "pdsim");
    message_.set(http::field::connection, "close");
    message_.prepare_payload();
    parser_.body_limit(limits.most_bytes);
  }

  void start() {
    const auto self = shared_from_this();
    timer_.expires_after(std::chrono::nanoseconds(limit_.ns()));
    timer_.async_wait([self](const Failure& error) {
      if (!error) self->give_up();
    });
    resolver_.async_resolve(to_.host, to_.port, [self](const Failure& error, const Tcp::resolver::results_type& found) {
      if (error) return self->end(error, "cannot find the host");
      self->stream_.async_connect(found,
                                  [self](const Failure& failure, const Tcp::endpoint&) { self->connected(failure); });
    });
  }

 private:
  void connected(const Failure& error) {
    if (error) return end(error, "cannot connect");
    const auto self = shared_from_this();
    http::async_write(stream_, message_, [self](const Failure& failure, std::size_t) {
      if (failure) return self->end(failure, "cannot send");
      http::async_read(self->stream_, self->buffer_, self->parser_,
                       [self](const Failure& failed, std::size_t) { self->end(failed, "no whole answer"); });
    });
  }

  void give_up() {
    if (is_over_) return;
    reply_.problem = fmt::format("no answer within {}", in_seconds(limit_));
    finish();
    resolver_.cancel();
    stream_.cancel();
  }

  void end(const Failure& error, std::string_view what) {
    if (is_over_) return;
    if (error) {
      reply_.problem = fmt::format("{}: {}", what, error.message());
    } else {
      reply_.status = static_cast<int>(parser_.get().result_int());
      reply_.body = std::move(parser_.get().body());
    }
    finish();
    timer_.cancel();
  }

  void finish() {
    is_over_ = true;
    over_();
  }

  Tcp::resolver resolver_;
  beast::tcp_stream stream_;
  asio::steady_timer timer_;
  Time limit_;
  HttpReply& reply_;
  std::function<void()> over_;
  HttpAddress to_;
  http::request<http::empty_body> message_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  bool is_over_ = false;
};

}  // namespace

Result<HttpAddress> http_address(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const auto wrong = [&] {
    return Error{Code::input_invalid, fmt::format("`{}` is not an address of the form http://HOST:PORT", url), {}};
  };
  if (!url.starts_with(scheme)) return wrong();
  std::string_view place = url.substr(scheme.size());
  place = place.substr(0, place.find('/'));
  const bool bracketed = place.starts_with("[");
  const std::size_t end = bracketed ? place.find(']') : place.rfind(':');
  if (place.empty() || (bracketed && end == std::string_view::npos)) return wrong();
  HttpAddress address;
  address.host = std::string(bracketed ? place.substr(1, end - 1) : place.substr(0, end));
  std::string_view port = end == std::string_view::npos ? std::string_view() : place.substr(end + 1);
  if (bracketed && port.starts_with(":")) port.remove_prefix(1);
  address.port = port.empty() ? "80" : std::string(port);
  const bool digits =
      std::all_of(address.port.begin(), address.port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (address.host.empty() || !digits || address.port.size() > 5 || std::stoi(address.port) > 65'535) return wrong();
  return address;
}

std::vector<HttpReply> fetch_all(const std::vector<HttpRequest>& requests, const HttpLimits& limits) {
  std::vector<HttpReply> replies(requests.size());
  asio::io_context context;
  std::size_t next = 0;
  std::function<void()> start_next = [&] {
    if (next >= requests.size()) return;
    const std::size_t at = next++;
    std::make_shared<Exchange>(context, requests[at], limits, replies[at], start_next)->start();
  };
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(limits.at_once, 1), requests.size()); ++i) start_next();
  context.run();
  return replies;
}

}  // namespace pdsim
