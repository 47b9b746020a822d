// NCCL called as its own programs do, from the rank's thread, one call after the other.
//
//   form 0  as a Communicator calls it: from the call's memory to the device, NCCL's function, and back
//   form 1  NCCL's function alone, on data that the device holds since prepare(); the output is copied back after the first run
//           only
#pragma once

#include "backends/nccl/nccl_group.h"
#include "core/group/raw_caller.h"

#include <memory>

namespace pdsim {

// Creates the communicator together with the other ranks, and waits for that until the deadline. Errors: timeout, those of NCCL.
Result<std::unique_ptr<RawCaller>> make_nccl_raw_caller(std::shared_ptr<NcclJob> job, const NcclSlot& slot,
                                                        NcclFlight::Clock::time_point deadline);

}  // namespace pdsim
