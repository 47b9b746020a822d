// A plan as one flight: its buffers stay on the device from the first round to the last, a round's messages are one group of
// ncclSend and ncclRecv, and kernels combine the received data. The host only enqueues.
//
//   bits     the same as run_plan()'s (core/collectives/plan_runner.h), of which this is the device form: same rounds, same order
//   order    all on the context's stream; NCCL has no tags, so plans of one communicator match in the order of their flights
//   memory   input, output, scratch and a round's received data until it is combined; the call's own is read when the flight is
//            launched, and its output written whole when it has landed
#pragma once

#include "backends/nccl/device/channel.h"
#include "core/collectives/algorithms.h"

namespace pdsim {

// `plan` must outlive the flight.
// Errors: invalid_argument, when a round of the plan leaves its buffers or its group (core/collectives/plan_room.h).
Result<NcclFlight> plan_flight(const Collective& call, const Algorithm& plan, Rank rank, int size);

}  // namespace pdsim
