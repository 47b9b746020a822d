// Differentiable operations outside layers, losses and optimizers' arithmetic. Shapes must agree exactly (no
// broadcasting).
#pragma once

#include "core/nn/autograd.h"

#include <cstdint>
#include <vector>

namespace pdsim::nn {

Result<Tensor> add(const Tensor& a, const Tensor& b);
Result<Tensor> mul(const Tensor& a, const Tensor& b);
Result<Tensor> scale(const Tensor& a, double factor);
Result<Tensor> concatenate_rows(const Tensor& a, const Tensor& b);    // a's rows, then b's; meta if either is
Result<Tensor> sum(const Tensor& a);                                  // scalar
Result<Tensor> mse_loss(const Tensor& output, const Tensor& target);  // scalar, mean over all elements
// Mean over rows of -log softmax(row)[class]; targets are class indices.
Result<Tensor> cross_entropy_loss(const Tensor& logits, const std::vector<std::int64_t>& classes);

}  // namespace pdsim::nn
