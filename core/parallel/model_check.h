// The constructor's comparison of models: the number of parameters by all_gather, then rank 0's sizes and strides by
// broadcast. Names, values, dtypes and order are not compared.
//
//   errors   model_differs: a different number on every rank; a different shape on the deviating rank only, while rank 0
//            continues
#pragma once

#include "core/group/process_group.h"
#include "core/nn/tensor.h"

#include <span>

namespace pdsim {

Status verify_same_model(ProcessGroup& group, std::span<const nn::Tensor> parameters);

}  // namespace pdsim
