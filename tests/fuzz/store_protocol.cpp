// What TcpStore's server reads of strangers and answers them, and what its clients read of a server that is none.
#include "backends/tcp_store/store_service.h"
#include "backends/tcp_store/tcp_wire.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <list>
#include <optional>
#include <string_view>

using namespace pdsim;

namespace {

// The server, without its sockets: every request has a client of its own.
class Server {
 public:
  void take(tcp::Request request) {
    if (!service_.handle(request)) {
      StoreWait& wait = waits_.emplace_back(StoreWait{std::move(request)});
      if (!service_.begin(wait).ok()) waits_.pop_back();
    }
    for (auto it = waits_.begin(); it != waits_.end();) {
      const bool over = it->fulfilled && service_.answer(*it).has_value();
      if (over) service_.end(*it);
      it = over ? waits_.erase(it) : std::next(it);
    }
  }
  ~Server() {
    for (StoreWait& wait : waits_) {
      PDSIM_CHECK(!service_.timed_out(wait).message.empty(), "a wait that timed out says for what");
      service_.end(wait);
    }
    PDSIM_CHECK(service_.waiting_bytes() == 0, "waits that are over take no memory");
  }

 private:
  StoreService service_{std::size_t{1} << 14, std::size_t{1} << 12};
  std::list<StoreWait> waits_;
};

void use(std::string_view whole, Server& server) {
  const std::string_view frame = whole.substr(tcp::length_size);
  if (auto request = tcp::decode_request(frame)) {
    PDSIM_CHECK(tcp::encode(*request) == whole, "a request has one encoding");
    server.take(std::move(*request));
  }
  if (const auto response = tcp::decode_response(frame)) {
    const std::string encoded = tcp::encode(*response);
    const auto again = tcp::decode_response(std::string_view(encoded).substr(tcp::length_size));
    PDSIM_CHECK(again && again->ok() == response->ok(), "an answer that was read can be sent and read again");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  std::string_view rest = bytes;
  if (tcp::hello_version(rest.substr(0, tcp::hello_size))) {
    rest.remove_prefix(tcp::hello_size);
    const std::size_t secret = tcp::frame_size(rest).value_or(0);
    rest.remove_prefix(std::min(tcp::length_size + secret, rest.size()));
  }
  Server server;
  while (const auto frame_size = tcp::frame_size(rest)) {
    if (*frame_size > tcp::max_frame || rest.size() - tcp::length_size < *frame_size) break;
    const std::string_view whole = rest.substr(0, tcp::length_size + *frame_size);
    use(whole, server);
    rest.remove_prefix(whole.size());
  }
  return 0;
}
