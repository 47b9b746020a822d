#include "backends/nccl/nccl_transport.h"

#include "backends/local/deadline.h"
#include "backends/nccl/errors.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

struct Wire {
  bool sends;
  Rank peer;
  std::int64_t at;
  std::size_t bytes;
};

Status launch(const std::vector<Wire>& wires, const NcclLane& lane) {
  const NcclCalls& nccl = lane.loaded.nccl;
  PDSIM_TRY(nccl_status(nccl, nccl.group_start(), "ncclGroupStart", lane.communicator));
  Status first;
  for (const Wire& w : wires) {
    std::byte* data = lane.device + w.at;
    const ncclResult_t result = w.sends
                                    ? nccl.send(data, w.bytes, ncclUint8, w.peer, lane.communicator, lane.stream)
                                    : nccl.receive(data, w.bytes, ncclUint8, w.peer, lane.communicator, lane.stream);
    if (first.ok()) first = nccl_status(nccl, result, w.sends ? "ncclSend" : "ncclRecv", lane.communicator);
  }
  const Status ended = nccl_status(nccl, nccl.group_end(), "ncclGroupEnd", lane.communicator);
  return first.ok() ? ended : first;
}

}  // namespace

Result<NcclFlight> flight_of(std::span<const Message> round) {
  NcclFlight flight;
  std::vector<Wire> wires;
  for (const Message& m : round) {
    if (m.data == nullptr && m.bytes > 0)
      return Error{Code::invalid_argument, "a real world moves real bytes; the message has none", {}};
    if (m.peer == any_source) return Error{Code::unsupported, "NCCL has no receive from any source", {}};
    const bool sends = m.kind == Message::Kind::send;
    const std::int64_t on_wire = std::max<std::int64_t>(m.bytes, 1);
    const Wire wire{sends, m.peer, flight.reserve(on_wire), static_cast<std::size_t>(on_wire)};
    wires.push_back(wire);
    (sends ? flight.in : flight.out).push_back({m.data, m.bytes, wire.at});
  }
  flight.launch = [wires = std::move(wires)](const NcclLane& lane) { return launch(wires, lane); };
  return flight;
}

void NcclTransport::post(std::span<const Message> round, Done done) {
  Result<NcclFlight> flight = flight_of(round);
  if (!flight.ok()) return done(flight.error());
  flight->deadline = deadline_ ? *deadline_ : deadline_after(timeout_);
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
