// Casts between layers, and layers that backward runs again.
#include "core/nn/layers.h"

#include <utility>

namespace pdsim::nn {
namespace {

// As CheckpointFunction of torch.utils.checkpoint: the graph knows the input only, and the backward of the layer is a pass
// of its own, so that hooks of its parameters fire once for every time it stands in the path.
class Recompute final : public Node {
 public:
  Recompute(Layer& layer, const Tensor& input, ForwardMode mode)
      : Node("CheckpointFunctionBackward"), layer_(layer), input_(input), mode_(mode) {}

  Result<std::vector<Tensor>> backward(const Tensor& grad) override {
    if (released_) return freed_twice(name());
    const Result<Tensor> saved = input_.unpack();
    if (!saved.ok()) return saved.error();
    Tensor input = saved->detach();
    input.set_requires_grad(true);
    const Result<Tensor> output = layer_.forward(input, mode_, {});
    if (!output.ok()) return output.error();
    BackwardPass again;
    PDSIM_TRY(again.run(*output, grad));
    return std::vector<Tensor>{input.grad()};
  }

  void release() override { released_ = true; }

 private:
  Layer& layer_;
  SavedTensor input_;
  ForwardMode mode_;
  bool released_ = false;
};

}  // namespace

Result<Tensor> recomputed(Layer& layer, const Tensor& input, ForwardMode mode, const TensorWatcher& watch) {
  Result<Tensor> made = layer.forward(input, {mode.training, false}, watch);
  if (!made.ok() || !tracked({input})) return made;
  Tensor output = made->detach();
  record(std::make_shared<Recompute>(layer, input, mode), {input}, output);
  return output;
}

Tensor cast(const Tensor& t, DType dtype, bool grad) {
  if (t.dtype() == dtype) return t;
  Tensor output = Tensor::from(t.values(), t.shape(), dtype);
  if (!grad || !tracked({t})) return output;
  const auto back = [from = t.dtype()](const Tensor& g, const std::vector<Tensor>&) {
    return std::vector<Tensor>{cast(g, from, false)};
  };
  record(make_function("ToCopyBackward0", {}, back), {t}, output);
  return output;
}

}  // namespace pdsim::nn
