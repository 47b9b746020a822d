// NCCL's own collectives, behind pdsim's Collective value.
//
//   lacks    bitwise operations: the contributions travel with NCCL's all_gather or all_to_all, and are combined on the device
//   memory   input and output on the device; with bitwise operations one contribution per rank besides
//   avg      floating: NCCL scales each input by 1/n rounded to the dtype, then adds; integers: adds, then divides
//   order    of floating-point sums is NCCL's own
#pragma once

#include "backends/nccl/device/channel.h"
#include "core/collectives/collective.h"

namespace pdsim {

// `call` is not empty and of a kind that NCCL has (capabilities.h). `done` and the deadline are the caller's to add.
NcclFlight native_flight(const Collective& call, Rank rank, int size);

}  // namespace pdsim
