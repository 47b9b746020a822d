// dtypes and reduce operations in NCCL's terms.
#pragma once

#include "backends/nccl/library.h"
#include "core/base/types.h"

#include <optional>

namespace pdsim {

// bool travels as uint8, as in PyTorch.
ncclDataType_t nccl_type(DType dtype);

// Of bool `or` is the maximum and `and` the minimum. Empty: NCCL has none (bitwise operations), or makes it for a communicator and
// a factor (premul_sum).
std::optional<ncclRedOp_t> nccl_op(ReduceOp op, DType dtype);

}  // namespace pdsim
