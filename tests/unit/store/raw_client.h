// A socket without TcpStore's manners, for what a server must survive.
#pragma once

#include "backends/net/tcp_socket.h"
#include "backends/os/real_runtime.h"
#include "backends/tcp_store/tcp_wire.h"

#include <string>
#include <string_view>
#include <sys/socket.h>

namespace pdsim::testing {

class RawClient {
 public:
  explicit RawClient(int port) : fd_(std::move(tcp::connect_to("127.0.0.1", port, Time::max(), clock_)).value()) {}
  explicit RawClient(Descriptor fd) : fd_(std::move(fd)) {}
  void send(std::string_view bytes) { (void)tcp::send_all(fd_.get(), bytes, Time::max(), clock_); }
  std::string receive(std::size_t count) {
    if (tcp::receive(fd_.get(), in_, count, Time::max(), clock_) != tcp::Io::done) return "closed";
    std::string bytes(in_.bytes().substr(0, count));
    in_.skip(count);
    return bytes;
  }
  // Says hello and offers `secret`; the server's answer to that, or "closed".
  std::string enter(std::string_view secret = {}) {
    send(tcp::hello() + tcp::offer(secret));
    return receive(tcp::hello_size) == tcp::hello() ? receive(1) : "closed";
  }
  // Sends `bytes` again and again until no more are taken; how many were.
  std::size_t send_until_full(std::string_view bytes) {
    std::size_t taken = 0;
    for (ssize_t n = 0; n >= 0; taken += static_cast<std::size_t>(n > 0 ? n : 0))
      n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return taken;
  }
  void say_no_more() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

 private:
  RealRuntime clock_;
  Descriptor fd_;
  ReceiveBuffer in_;
};

}  // namespace pdsim::testing
