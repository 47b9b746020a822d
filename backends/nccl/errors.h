// Converts NCCL's and CUDA's codes to pdsim's errors, for all callers.
#pragma once

#include "backends/nccl/library.h"
#include "core/base/result.h"

#include <string_view>

namespace pdsim {

// `result` is the value returned by `call`, or by ncclCommGetAsyncError; `communicator` may be null. ncclSuccess is ok, and so is
// ncclInProgress, which a nonblocking communicator returns for nearly everything: ask it afterwards for the outcome.
Status nccl_status(const NcclCalls& nccl, ncclResult_t result, std::string_view call, ncclComm_t communicator);

Status cuda_status(const CudaCalls& cuda, cudaError_t result, std::string_view call);

}  // namespace pdsim
