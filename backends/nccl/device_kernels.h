// pdsim's own CUDA kernels: what NCCL does not combine.
//
//   order    enqueued on the stream; nothing waits for the host
//   built    by nvcc alone, for PDSIM_CUDA_ARCHITECTURES; a build without nvcc has none of them (host_reduction.h)
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <cuda_runtime_api.h>

namespace pdsim {

// inout[i] = inout[i] op in[i], both on the device. Bitwise operations of integers and bool only.
cudaError_t reduce_on_device(void* inout, const void* in, std::int64_t count, DType dtype, ReduceOp op,
                             cudaStream_t stream);

}  // namespace pdsim
