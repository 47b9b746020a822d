// Replaces device_kernels.h for plans in a build without nvcc: the stream copies to pinned memory, lets the host compute there,
// and copies back. Offsets are into the flight's memory.
#pragma once

#include "backends/nccl/device/channel.h"

namespace pdsim {

Status reduce_on_host(const NcclContext& context, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype,
                      ReduceOp op);
Status scale_on_host(const NcclContext& context, std::int64_t to, std::int64_t from, std::int64_t count, DType dtype,
                     double factor);
Status divide_on_host(const NcclContext& context, std::int64_t at, std::int64_t count, DType dtype, std::int64_t divisor);

}  // namespace pdsim
