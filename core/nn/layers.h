// The layers of a Module, one forward each. For core/nn alone.
//
//   sums   over ascending indices in f64, rounded once to the tensor's type: the same bits from every compiler
#pragma once

#include "core/nn/module.h"

#include <memory>
#include <vector>

namespace pdsim::nn {

class Layer {
 public:
  virtual ~Layer() = default;
  // `input` is [batch, width]; shape_mismatch where the width is another.
  virtual Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) = 0;
  std::vector<Tensor> parameters;
  std::vector<Tensor> buffers;

  static std::unique_ptr<Layer> make(const LayerSpec& spec, DType dtype, const Random& random);
};

std::unique_ptr<Layer> make_batch_norm(const LayerSpec& spec, DType dtype);

// For layers: saves `t` and tells the watcher.
SavedTensor save(const Tensor& t, const std::string& layer, const TensorWatcher& watch);
Status check_width(const std::string& layer, const Tensor& input, std::int64_t width);

}  // namespace pdsim::nn
