// Gloo as a Backend: real sockets on this machine, one context (full mesh of connections) per group.
//
//   join      publishes this rank's address in the store under the group's name and connects to every other rank; errors:
//             store_timeout (a rank never came), connection_refused (the address in the store is a dead rank's), timeout,
//             invalid_argument (ranks name different numbers of interfaces)
//   start     runs on one of two threads of the communicator, as in c10d; sends and receives each on a thread of their own, as
//             Gloo cannot be polled. `auto` takes Gloo's own collective where it has one, otherwise pdsim's plan; `native` only
//             Gloo's; any other name is a plan, over Gloo's point-to-point messages.
//   sizes     ranks that disagree about a collective's size lose their process: Gloo throws on its own thread, where no caller
//             can catch. Users of Gloo see the same, so it is left as it is.
//   abort     closes the connections of the group, which ends the calls in flight here (and, as peer_closed, elsewhere)
//   timeout   Gloo closes every connection of the group on its first timeout: later calls fail with group_unusable
//   process   must ignore SIGPIPE (RankChannel does): Gloo writes to connections whose other end may have left
//   source    Gloo 0.5 (2022)
#pragma once

#include "core/group/backend.h"
#include "core/runtime/runtime.h"

#include <memory>
#include <string>

namespace pdsim {

struct GlooOptions {
  std::string interface = "lo";  // the network interface whose address is published; of several (lo,eth0) the first
  std::string address{};         // or this address itself; the interface is then ignored
  // GLOO_SOCKET_IFNAME wins, as in PyTorch; otherwise PDSIM_ADDRESS, which a job's agents set (backends/launch/agent.h).
  static GlooOptions from_environment();
};

// `runtime` outlives the backend. Errors: unavailable (built without Gloo, or no such interface).
Result<std::unique_ptr<Backend>> make_gloo_backend(Runtime& runtime,
                                                   const GlooOptions& options = GlooOptions::from_environment());

}  // namespace pdsim
