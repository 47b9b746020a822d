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
  // `input` is [batch, width]; shape_mismatch where the width differs from the layer's.
  virtual Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) = 0;
  std::vector<Tensor> parameters;
  std::vector<Tensor> buffers;
  Random noise{0};       // dropout
  RankExchange ranks{};  // sync_batchnorm

  static std::unique_ptr<Layer> make(const LayerSpec& spec, DType dtype, const Random& random, bool sizes_have_memory);
};

std::unique_ptr<Layer> make_batch_norm(const LayerSpec& spec, DType dtype);  // every batch-norm kind
std::unique_ptr<Layer> make_embedding(const LayerSpec& spec, DType dtype, const Random& random);
std::unique_ptr<Layer> make_conv2d(const LayerSpec& spec, DType dtype, const Random& random);
std::unique_ptr<Layer> make_layer_norm(const LayerSpec& spec, DType dtype);
// A part of a linear layer, with the same numbers that the whole one would draw from `random`.
std::unique_ptr<Layer> make_split_linear(const LayerSpec& spec, DType dtype, const Random& random);
std::unique_ptr<Layer> make_dropout(const LayerSpec& spec);
std::unique_ptr<Layer> make_sized(const LayerSpec& spec, DType dtype, bool memory);

// Uniform in [-bound, bound), from the stream of its name.
Tensor uniform_parameter(const std::string& name, Shape shape, double bound, DType dtype, const Random& random);

// The same numbers in another dtype, differentiable.
Tensor cast(const Tensor& t, DType dtype, bool grad);
// Runs the layer's forward without history; its backward runs it again with history (torch.utils.checkpoint,
// reentrant).
Result<Tensor> recomputed(Layer& layer, const Tensor& input, ForwardMode mode, const TensorWatcher& watch);
// The same numbers; their backward first charges this time to the clock.
Tensor timed(const Tensor& t, Time backward, const std::function<void(Time)>& clock);

// For layers: saves `t` and notifies the watcher.
SavedTensor save(const Tensor& t, const std::string& layer, const TensorWatcher& watch);
Status check_width(const std::string& layer, const Tensor& input, std::int64_t width);

}  // namespace pdsim::nn
