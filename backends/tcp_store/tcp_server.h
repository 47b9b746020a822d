// TcpServer: the process-wide server behind TcpStore handles; one thread that polls all connections.
//
//   trust     any process that reaches the port may read and write every key, as with PyTorch's TCPStore. With a secret, only
//             processes that send it may; it is not encrypted, so whoever reads the network's traffic can read it
//   before    a connection that has not been admitted holds at most tcp::most_before_admission bytes and is dropped after
//             `hello_within`. At most `strangers` of them are kept: the next one replaces the oldest
//   clients   at most `clients`; further ones are told that the store is full. Each holds at most `small` bytes that it sent and
//             `small` that it has not read; it gets one answer a turn, and none before it has read the last one
//   large     a request or value over `small` takes its size out of `large_in_all`, in order of arrival. When nothing is left
//             the others wait for it, and one that has not been served in `large_within` is dropped
//   waiting   a wait is at most tcp::max_wait bytes, all together `waiting_in_all`; it ends here at its timeout, with the keys
//             that are missing
//   stored    keys and values take at most `stored` bytes. Requests beyond this or waiting_in_all get limit_exceeded
//   work      linear in the bytes received and sent; a turn serves every connection once, so no client delays another for
//             longer than one request takes
//   end       the destructor closes every connection: clients get store_closed at once
//   threads   start, load and destroy from any thread; its own thread blocks all signals
#pragma once

#include "backends/net/receive_buffer.h"
#include "backends/net/secret.h"
#include "backends/os/posix.h"
#include "backends/os/real_runtime.h"
#include "backends/tcp_store/store_service.h"
#include "backends/tcp_store/tcp_wire.h"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct pollfd;

namespace pdsim {

struct StoreLimits {
  std::size_t strangers = 256;
  std::size_t clients = 8192;
  std::size_t small = std::size_t{16} << 10;
  std::size_t large_in_all = std::size_t{256} << 20;  // at least one frame
  std::size_t waiting_in_all = std::size_t{256} << 20;
  std::size_t stored = std::size_t{1} << 30;
  Time hello_within{30'000'000'000'000};
  Time large_within{30'000'000'000'000};
};

struct TcpServerOptions {
  Secret secret{};
  StoreLimits limits{};
  // Called on the server's thread with the address of each connection that offered a wrong secret, or none.
  std::function<void(const std::string& address)> refused{};
};

class TcpServer {
 public:
  // Listens on `host`:`port` (0: a free one). io_error: the port is taken, the address is not of this machine ...
  static Result<std::shared_ptr<TcpServer>> start(const std::string& host, int port, TcpServerOptions options = {});
  // Uses a socket that already listens; takes it over, also when it fails.
  static Result<std::shared_ptr<TcpServer>> adopt(int listening_fd, TcpServerOptions options = {});
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;
  int port() const { return port_; }

  // The load after the last turn.
  struct Load {
    std::size_t strangers = 0, clients = 0;
    std::size_t held = 0;     // bytes received and not used, waiting, or not read yet
    std::size_t refused = 0;  // connections, since the start: their secret was wrong, or the store was full
  };
  Load load() const;

 private:
  struct Connection {
    Descriptor fd;
    ReceiveBuffer in;
    std::string out;
    std::size_t sent = 0;  // of `out`
    bool greeted = false;
    bool admitted = false;
    bool ended = false;  // the client sends no more
    bool dead = false;
    bool last_words = false;  // close when `out` is sent
    bool lacks_room = false;  // for its request, or for the answer
    std::size_t room = 0;     // its part of large_in_all
    Time deadline{};          // for the hello, or for `waiting`
    Time large_deadline{};    // for the request or answer that has `room`
    std::unique_ptr<StoreWait> waiting{};
  };

  TcpServer(Listener listener, Descriptor wake_read, Descriptor wake_write, TcpServerOptions options);
  static Result<std::shared_ptr<TcpServer>> run(Listener listener, TcpServerOptions options);
  void loop();
  void gather(std::vector<pollfd>& polled, bool accepting);
  void turn(Connection& c, short events);
  Time next_deadline() const;
  bool has_request(const Connection& c) const;
  std::size_t readable(const Connection& c) const;
  bool take_room(Connection& c, std::size_t bytes);
  void give_room_back(Connection& c);
  void accept_some();
  void drop_oldest_stranger();
  void read(Connection& c, bool hung_up);
  void flush(Connection& c);
  void greet(Connection& c);
  void admit(Connection& c);
  void serve(Connection& c);
  void wait(Connection& c, tcp::Request request);
  void answer(Connection& c, const Result<tcp::Response>& response);
  void settle(Connection& c);
  void sweep();

  const TcpServerOptions options_;
  Descriptor listener_;
  int port_;
  Descriptor wake_read_, wake_write_;
  RealRuntime clock_;
  StoreService service_;
  std::list<Connection> connections_;
  std::size_t strangers_ = 0, large_ = 0, refused_ = 0;
  bool some_lack_room_ = false;
  Time accept_after_{};  // no descriptors were left: not before then
  mutable std::mutex reading_load_;
  Load load_;
  std::thread thread_;
};

}  // namespace pdsim
