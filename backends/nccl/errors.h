// The one place where NCCL's and CUDA's codes become pdsim's errors.
#pragma once

#include "backends/nccl/library.h"
#include "core/base/result.h"

#include <string_view>

namespace pdsim {

// `result` as `call` returned it, or as ncclCommGetAsyncError told it; `communicator` may be null. ncclSuccess is ok, and so is
// ncclInProgress, which a communicator that does not block answers to nearly everything: ask it afterwards how it went.
Status nccl_status(const NcclCalls& nccl, ncclResult_t result, std::string_view call, ncclComm_t communicator);

Status cuda_status(const CudaCalls& cuda, cudaError_t result, std::string_view call);

}  // namespace pdsim
