// A socket without TcpStore's manners, for what a server must survive.
#pragma once

#include "backends/local/real_runtime.h"
#include "backends/local/tcp_socket.h"

#include <string>
#include <string_view>

namespace pdsim::testing {

class RawClient {
 public:
  explicit RawClient(int port) : fd_(std::move(tcp::connect_to("127.0.0.1", port, Time::max(), clock_)).value()) {}
  explicit RawClient(Descriptor fd) : fd_(std::move(fd)) {}
  void send(std::string_view bytes) { (void)tcp::send_all(fd_.get(), bytes, Time::max(), clock_); }
  std::string receive(std::size_t count) {
    std::string bytes;
    return tcp::receive_exactly(fd_.get(), count, bytes, Time::max(), clock_) == tcp::Io::done ? bytes : "closed";
  }
  void close() { fd_.reset(); }

 private:
  RealRuntime clock_;
  Descriptor fd_;
};

}  // namespace pdsim::testing
