// NCCL's own collectives, behind pdsim's Collective value.
//
//   lacks    bitwise operations: the contributions are sent with NCCL's all_gather or all_to_all, and combined on the device
//   memory   input and output on the device; for bitwise operations one contribution per rank besides
//   avg      floating: NCCL scales each input by 1/n rounded to the dtype, then adds; integers: adds, then divides
//   order    NCCL's own for floating-point sums
#pragma once

#include "backends/nccl/device/channel.h"
#include "core/collectives/collective.h"

namespace pdsim {

// `call` must not be empty, and of a kind that NCCL has (capabilities.h). The caller adds `done` and the deadline.
NcclFlight native_flight(const Collective& call, Rank rank, int size);

}  // namespace pdsim
