// What device_kernels.h does, for a build without nvcc: the stream copies to pinned memory, lets the host combine there, and copies
// back.
#pragma once

#include "backends/nccl/channel.h"

namespace pdsim {

// The element types and operations of core/collectives/reduce.h. `inout` and `in` are offsets into the lane's memory.
Status reduce_on_host(const NcclLane& lane, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype,
                      ReduceOp op);

}  // namespace pdsim
