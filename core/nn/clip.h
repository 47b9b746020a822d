// Gradient clipping, as torch.nn.utils.clip_grad_norm_.
#pragma once

#include "core/nn/tensor.h"

#include <span>

namespace pdsim::nn {

struct ClipOptions {
  double max_norm = 1.0;
  double norm_type = 2.0;           // or infinity
  bool error_if_nonfinite = false;  // autograd_misuse when the norm is NaN or infinite, and nothing is scaled
};

// Scales all gradients by max_norm / (norm + 1e-6) where that is below one; returns the norm before scaling. Parameters without a
// gradient are skipped; with no gradients the norm is 0.
Result<double> clip_grad_norm(std::span<Tensor> parameters, const ClipOptions& options);

// Its two halves: the norm over these gradients alone, and scaling them by a known norm.
double gradient_norm(std::span<const Tensor> parameters, double norm_type);
Status scale_gradients(std::span<Tensor> parameters, const ClipOptions& options, double norm);

}  // namespace pdsim::nn
