// The memory below tensors, for wrappers that keep parameters elsewhere: one flat tensor of which several are views, and
// memory that is free between forwards.
//
//   free      the shape, the name and the history stay; views give null, values() is empty, and a layer that meets such a
//             parameter ends its forward with an error
//   versions  none of these raises one, as PyTorch's FSDP leaves them: what was saved for backward may be read again once the
//             memory is back with the same numbers
//   source    PyTorch's torch/distributed/fsdp/_flat_param.py (_use_unsharded_views, _free_storage, _alloc_storage)
#pragma once

#include "core/nn/tensor.h"

#include <cstdint>

namespace pdsim::nn {

// Makes `t` a view of the consecutive elements of `flat` from `offset` on, after copying its values there. Same dtype, and the
// elements lie in `flat`.
void move_into(Tensor& t, Tensor& flat, std::int64_t offset);

// Of the tensor and of all views of its memory. A tensor that never had memory stays as it is.
void free_storage(Tensor& t);
// Zeros, until somebody writes; nothing where the memory is there, or never was.
void allocate_storage(Tensor& t);

}  // namespace pdsim::nn
