#include "core/nn/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pdsim::nn {

double gradient_norm(std::span<const Tensor> parameters, double type) {
  double total = 0.0;
  for (const Tensor& p : parameters) {
    if (!p.grad().defined()) continue;
    for (const double v : p.grad().values()) {
      if (std::isinf(type)) {
        total = std::isnan(v) || std::abs(v) > total ? std::abs(v) : total;
      } else {
        total += type == 2.0 ? v * v : std::pow(std::abs(v), type);
      }
    }
  }
  if (std::isinf(type)) return total;
  return type == 2.0 ? std::sqrt(total) : std::pow(total, 1.0 / type);
}

Result<double> clip_grad_norm(std::span<Tensor> parameters, const ClipOptions& options) {
  const double norm = gradient_norm(parameters, options.norm_type);
  PDSIM_TRY(scale_gradients(parameters, options, norm));
  return norm;
}

Status scale_gradients(std::span<Tensor> parameters, const ClipOptions& options, double norm) {
  if (options.error_if_nonfinite && !std::isfinite(norm))
    return Error{Code::autograd_misuse,
                 fmt::format("the total norm of order {} of the gradients is {}, so they cannot be clipped; without "
                             "error_if_nonfinite they are scaled by it anyway",
                             options.norm_type, norm),
                 {{"norm", fmt::format("{}", norm)}}};
  double factor = options.max_norm / (norm + 1e-6);
  if (factor > 1.0) factor = 1.0;  // a NaN stays one
  for (Tensor& p : parameters) {
    Tensor gradient = p.grad();
    if (!gradient.defined() || !gradient.has_values()) continue;
    std::vector<double> values = gradient.values();
    for (double& v : values) v *= factor;
    gradient.copy_(Tensor::from(values, gradient.shape(), gradient.dtype()).view());
  }
  return {};
}

}  // namespace pdsim::nn
