#include "backends/nccl/nccl_transport.h"

#include "backends/nccl/nccl_round.h"
#include "backends/os/deadline.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim {
Result<NcclFlight> flight_of(std::span<const Message> round) {
  NcclFlight flight;
  std::vector<NcclWire> wires;
  for (const Message& m : round) {
    if (m.data == nullptr && m.bytes > 0)
      return Error{Code::invalid_argument, "a real world moves real bytes; the message has none", {}};
    if (m.peer == any_source) return Error{Code::unsupported, "NCCL has no receive from any source", {}};
    const bool sends = m.kind == Message::Kind::send;
    const NcclWire wire{sends, m.peer, flight.reserve(std::max<std::int64_t>(m.bytes, 1)), m.bytes};
    wires.push_back(wire);
    (sends ? flight.in : flight.out).push_back({m.data, m.bytes, wire.at});
  }
  flight.launch = [wires = std::move(wires)](const NcclContext& context) -> Result<bool> {
    PDSIM_TRY(post_round(wires, context));
    return false;
  };
  return flight;
}

void NcclTransport::post(std::span<const Message> round, Done done) {
  Result<NcclFlight> flight = flight_of(round);
  if (!flight.ok()) return done(flight.error());
  flight->deadline = deadline_after(timeout_);
  std::vector<Message> messages(round.begin(), round.end());
  flight->done = [messages = std::move(messages), done = std::move(done)](const Status& status) {
    if (status.ok())
      for (const Message& m : messages)
        if (m.kind == Message::Kind::receive && m.matched != nullptr) *m.matched = m.peer;
    done(status);
  };
  engine_.run([channel = channel_, flight = std::move(*flight)]() mutable { channel->submit(std::move(flight)); });
}

}  // namespace pdsim
