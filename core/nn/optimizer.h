// Optimizers over a parameter list, with torch.optim's formulas (SGD; Adam without weight decay and amsgrad). A parameter
// without gradient is skipped, and its state does not age. A step writes in place: it raises the parameters' versions.
#pragma once

#include "core/nn/tensor.h"

#include <memory>
#include <string_view>
#include <vector>

namespace pdsim::nn {

struct OptimizerSpec {
  enum class Kind : std::uint8_t { sgd, adam };
  Kind kind = Kind::sgd;
  double lr = 0.1;
  double momentum = 0.0;                          // sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // adam
  // The optimizer works on copies of the parameters taken at construction (the master weights of mixed precision), and
  // writes them into the parameters at the end of each step.
  bool copies = false;
};

// Bytes of its state for this many trained elements: master copies and moments, at least four bytes each.
std::int64_t state_bytes(const OptimizerSpec& spec, DType dtype, std::int64_t elements);

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void step() = 0;
  // Applies to all later steps; Adam has no momentum.
  virtual void set(double lr, double momentum) = 0;
  void divide_grad(double by);  // a gradient scaler does this before the step
  void zero_grad();  // sets gradients to none, as PyTorch 2 does
  static std::unique_ptr<Optimizer> make(const OptimizerSpec& spec, std::vector<Tensor> parameters);

 protected:
  explicit Optimizer(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {}
  std::vector<Tensor> parameters_;
};

}  // namespace pdsim::nn
