// THE list of functions of CUDA and NCCL that the backend calls. NCCL is loaded on first use, so the program starts on machines
// without it; CUDA's runtime is linked, and finds the driver itself.
//
//   older    a function that the loaded NCCL does not have yet is null, where the table says so
//   header   the only one that names NCCL's and CUDA's types: it is not installed
//   source   nccl.h 2.28, cuda_runtime_api.h 13.0
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>

namespace pdsim {

struct CudaCalls {
  cudaError_t (*driver_version)(int*);
  cudaError_t (*runtime_version)(int*);
  cudaError_t (*device_count)(int*);
  cudaError_t (*set_device)(int);
  cudaError_t (*allocate)(void**, std::size_t);
  cudaError_t (*release)(void*);
  cudaError_t (*allocate_host)(void**, std::size_t);  // pinned
  cudaError_t (*release_host)(void*);
  cudaError_t (*make_stream)(cudaStream_t*, unsigned);
  cudaError_t (*destroy_stream)(cudaStream_t);
  cudaError_t (*make_event)(cudaEvent_t*, unsigned);
  cudaError_t (*destroy_event)(cudaEvent_t);
  cudaError_t (*record_event)(cudaEvent_t, cudaStream_t);
  cudaError_t (*query_event)(cudaEvent_t);
  cudaError_t (*copy)(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t);
  cudaError_t (*call_host)(cudaStream_t, cudaHostFn_t, void*);
  const char* (*name_of)(cudaError_t);
  const char* (*text_of)(cudaError_t);
};

using NcclReduction = ncclResult_t(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t,
                                   cudaStream_t);
using NcclRooted = ncclResult_t(const void*, void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
using NcclMove = ncclResult_t(const void*, void*, std::size_t, ncclDataType_t, ncclComm_t, cudaStream_t);

struct NcclCalls {
  ncclResult_t (*version)(int*);
  ncclResult_t (*unique_id)(ncclUniqueId*);
  ncclResult_t (*init)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*);
  ncclResult_t (*finalize)(ncclComm_t);
  ncclResult_t (*destroy)(ncclComm_t);
  ncclResult_t (*abort)(ncclComm_t);
  ncclResult_t (*async_error)(ncclComm_t, ncclResult_t*);
  const char* (*text_of)(ncclResult_t);
  const char* (*last_error)(ncclComm_t);
  ncclResult_t (*make_premul)(ncclRedOp_t*, void*, ncclDataType_t, ncclScalarResidence_t, ncclComm_t);
  ncclResult_t (*destroy_op)(ncclRedOp_t, ncclComm_t);
  ncclResult_t (*group_start)();
  ncclResult_t (*group_end)();
  ncclResult_t (*send)(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
  ncclResult_t (*receive)(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t);
  NcclReduction* all_reduce;
  NcclReduction* reduce_scatter;
  ncclResult_t (*reduce)(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t);
  NcclRooted* broadcast;
  NcclMove* all_gather;
  // Since 2.28; null before.
  NcclMove* all_to_all;
  NcclRooted* gather;
  NcclRooted* scatter;
};

struct NcclContext;  // channel.h

// The computations on the device: pdsim's kernels (device_kernels.h), or where nvcc was missing at build time, the host between
// two copies (host_arithmetic.h). Enqueued on the context's stream; offsets are into the flight's memory.
struct DeviceArithmetic {
  Status (*reduce)(const NcclContext& context, std::int64_t inout, std::int64_t in, std::int64_t count, DType dtype,
                   ReduceOp op);
  Status (*scale)(const NcclContext& context, std::int64_t to, std::int64_t from, std::int64_t count, DType dtype,
                  double factor);
  Status (*divide)(const NcclContext& context, std::int64_t at, std::int64_t count, DType dtype, std::int64_t divisor);
};

struct NcclLibrary {
  CudaCalls cuda;
  NcclCalls nccl;
  DeviceArithmetic arithmetic;
};

// Loads libnccl.so.2 from the loader's path, or else from where the build found it. It stays loaded. Errors: unavailable, with
// the loader's text.
Result<NcclLibrary> load_nccl();

}  // namespace pdsim
