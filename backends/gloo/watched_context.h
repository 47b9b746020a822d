// A Gloo context whose waits end when the connection they wait for breaks. Gloo itself (2022 to 2025) reports a broken connection
// only to messages that have not begun; it forgets queued sends, and receives that have arrived in part.
//
//   how      one thread per context waits for a message that is never sent; a broken connection ends that wait at once
//   waits    data that arrived before the break is still received; everything else throws Gloo's exception for the connection.
//            Receives from any rank are left to Gloo
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
  // Call it once, when the context is connected and before its first buffer is created.
  void watch();

 private:
  std::shared_ptr<ConnectionWatch> watch_;
};

}  // namespace pdsim
