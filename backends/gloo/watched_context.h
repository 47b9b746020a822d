// Gloo's context, whose waits end when the connection breaks that they wait for. Gloo itself (2022 to 2025) reports a broken connection
// to the messages that have not begun; a send that lies in its queue, and a receive of which a part has come, it forgets.
//
//   how      one thread per context waits for a message that nobody sends; a connection that breaks ends that wait at once
//   waits    what came before the break is still received; all else throws what Gloo threw for the connection. Receives from any
//            rank are left to Gloo
//   cost     a second, small buffer for each of Gloo's, and two uncontended locks per wait
#pragma once

#include <gloo/rendezvous/context.h>

#include <memory>

namespace pdsim {

class ConnectionWatch;

class WatchedContext final : public ::gloo::rendezvous::Context {
 public:
  using ::gloo::rendezvous::Context::Context;
  ~WatchedContext() override;
  // Once, when the context is connected, and before its first buffer is made.
  void watch();

 private:
  std::shared_ptr<ConnectionWatch> watch_;
};

}  // namespace pdsim
