// TcpStore: a handle onto a TcpServer, with c10d's TCPStore semantics.
//
//   opening   the serving rank starts the server and then is a client like all others. Connecting is retried, with
//             back-off, until the timeout. With a world size and wait_for_workers every handle counts itself in the key
//             "init/" (which num_keys counts too), and the serving rank waits until all have
//   trust     see TcpServer: there is no authentication, but with `secret` only clients with the same one are admitted
//   server    lives as long as the handle that serves, or the handles that share `server`; without it all calls return
//             store_closed
//   waiting   a blocked call blocks this handle only
//   errors    rendezvous_timeout: no server, only k of n clients joined, or the store was full; io_error: the port is taken;
//             unsupported: the other side is another version of pdsim, or not pdsim; invalid_argument: the secrets differ;
//             limit_exceeded: a request over 16 MiB or 65536 keys, or one for which the server has no room
//   threads   one thread per handle
#pragma once

#include "backends/net/receive_buffer.h"
#include "backends/net/secret.h"
#include "backends/net/tcp_socket.h"
#include "backends/os/posix.h"
#include "backends/os/real_runtime.h"
#include "backends/tcp_store/tcp_server.h"
#include "backends/tcp_store/tcp_wire.h"
#include "core/store/store.h"

#include <memory>
#include <string>

namespace pdsim {

struct TcpStoreOptions {
  std::string host = "127.0.0.1";
  int port = 0;                         // 0 and serve: a free one
  bool serve = false;                   // start the server in this process
  int listening_fd = -1;                // serve on this socket, which listens already; the store takes it over
  std::shared_ptr<TcpServer> server{};  // serve with a server that this process already has
  int world_size = 0;                   // 0: unknown
  bool wait_for_workers = true;
  Secret secret{};  // the same on all ranks, or none on all
  Time timeout{300'000'000'000'000};
};

class TcpStore final : public Store {
 public:
  static Result<std::unique_ptr<TcpStore>> open(TcpStoreOptions options);

  int port() const { return options_.port; }
  const std::shared_ptr<TcpServer>& server() const { return options_.server; }  // null: a client only

  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;
  // Ends the connection, and the server if this handle is its last owner.
  Status close() override;

 private:
  explicit TcpStore(TcpStoreOptions options);
  Status connect();
  Status greet(Descriptor& fd, Time deadline);
  Status join();
  Result<tcp::Response> exchange(const tcp::Request& request, bool waits = false);
  Error lost(std::string_view why);

  Status be_admitted(int fd, Time deadline);
  Error no_hello(tcp::Io io) const;

  RealRuntime clock_;
  TcpStoreOptions options_;
  ReceiveBuffer in_;
  Descriptor fd_;
};

}  // namespace pdsim
