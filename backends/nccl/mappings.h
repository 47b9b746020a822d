// dtypes and reduce operations in NCCL's terms.
#pragma once

#include "backends/nccl/library.h"
#include "core/base/types.h"

#include <optional>

namespace pdsim {

// bool is sent as uint8, as in PyTorch.
ncclDataType_t nccl_type(DType dtype);

// For bool, `or` is the maximum and `and` the minimum. Empty: NCCL lacks it (bitwise operations), or creates it for a
// communicator and a factor (premul_sum).
std::optional<ncclRedOp_t> nccl_op(ReduceOp op, DType dtype);

}  // namespace pdsim
