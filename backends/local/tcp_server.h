// TcpServer: the process-wide server behind TcpStore handles; one thread that polls all connections.
//
//   clients   any number the descriptors allow; each has bounded buffers and one request outstanding, so that garbage, slow,
//             silent and half-open connections harm nobody else. Who has not said hello in 30 s is dropped
//   waiting   waits are kept here and ended here at their timeout, with the keys that were missing
//   end       the destructor closes every connection: clients get store_closed at once
//   threads   start and destroy from any thread; its own thread blocks all signals
#pragma once

#include "backends/local/posix.h"
#include "backends/local/real_runtime.h"
#include "backends/local/tcp_wire.h"
#include "core/store/key_table.h"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace pdsim {

class TcpServer {
 public:
  // On `host`:`port` (0: a free one). io_error: the port is taken, the address is not of this machine ...
  static Result<std::shared_ptr<TcpServer>> start(const std::string& host, int port);
  // On a socket that already listens; takes it over, also when it fails.
  static Result<std::shared_ptr<TcpServer>> adopt(int listening_fd);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;
  int port() const { return port_; }

 private:
  struct Connection {
    Descriptor fd;
    std::string in, out;
    bool greeted = false;
    bool dead = false;
    bool last_words = false;                // close when `out` is sent
    Time deadline{};                        // of the hello, or of `waiting`
    std::optional<tcp::Request> waiting{};  // get, wait or wait_count that is not yet fulfilled
  };

  TcpServer(Listener listener, Descriptor wake_read, Descriptor wake_write);
  static Result<std::shared_ptr<TcpServer>> run(Listener listener);
  void loop();
  Time next_deadline() const;
  void accept_all();
  void read(Connection& c);
  void flush(Connection& c);
  void greet(Connection& c);
  void serve(Connection& c);
  void answer(Connection& c, const Result<tcp::Response>& response);
  // The response; nullopt: it waits.
  std::optional<Result<tcp::Response>> handle(const tcp::Request& request);
  std::optional<Result<tcp::Response>> try_waiting(const tcp::Request& request);
  Error wait_timed_out(const tcp::Request& request) const;
  void settle();

  Descriptor listener_;
  int port_;
  Descriptor wake_read_, wake_write_;
  RealRuntime clock_;
  KeyTable keys_;
  std::list<Connection> connections_;
  bool changed_ = false;  // a key was set since the waits were last looked at
  Time accept_after_{};   // no descriptors were left: not before then
  std::thread thread_;
};

}  // namespace pdsim
