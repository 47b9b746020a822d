// pdsim's own CUDA kernels: the arithmetic of plans, and the checks of a device. All memory is the device's.
//
//   bits     those of the host's loops (core/collectives/reduce.h): both use core/collectives/arithmetic.h
//   order    enqueued on the stream; nothing waits for the host. Return values are those of the launch
//   counts   0 is allowed, and launches nothing
//   memory   aligned to its elements. `inout` and `in` do not overlap; `to` may be `from`
//   built    only by nvcc, for PDSIM_CUDA_ARCHITECTURES; a build without nvcc has none of them (host_arithmetic.h)
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <cuda_runtime_api.h>

namespace pdsim {

// inout[i] = inout[i] op in[i]; any op and dtype that supports() allows.
cudaError_t reduce_on_device(void* inout, const void* in, std::int64_t count, DType dtype, ReduceOp op,
                             cudaStream_t stream);
// to[i] = from[i] * factor, for floating dtypes.
cudaError_t scale_on_device(void* to, const void* from, std::int64_t count, DType dtype, double factor,
                            cudaStream_t stream);
// data[i] = data[i] / divisor, towards zero, for integers; divisor > 0.
cudaError_t divide_on_device(void* data, std::int64_t count, DType dtype, std::int64_t divisor, cudaStream_t stream);

// to[i] = (first + i) mod period, exact in every dtype for periods up to 128. first >= 0.
cudaError_t fill_on_device(void* to, std::int64_t count, DType dtype, std::int64_t first, std::int64_t period,
                           cudaStream_t stream);
// Adds to *wrong the number of elements that differ in any bit.
cudaError_t count_wrong_on_device(const void* got, const void* expected, std::int64_t count, DType dtype,
                                  unsigned long long* wrong, cudaStream_t stream);

}  // namespace pdsim
