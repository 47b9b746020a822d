// Layers of which only the size and the time count.
#include "core/nn/layers.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace pdsim::nn {
namespace {

// Its parameters hang on a node each, made in their order, so that backward reaches the last first.
class Sized final : public Layer {
 public:
  Sized(const LayerSpec& spec, DType dtype, bool memory) : out_(spec.out), memory_(memory) {
    for (std::size_t i = 0; i < spec.shapes.size(); ++i)
      parameters.push_back(Tensor::meta(spec.shapes[i], dtype, memory)
                               .set_name(fmt::format("{}.p{}", spec.name, i))
                               .set_requires_grad(true));
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher&) override {
    Tensor at = input;
    for (const Tensor& parameter : parameters) {
      if (!mode.grad || !tracked({at, parameter})) continue;
      Tensor output = at.detach();
      const auto rule = [parameter_like = parameter.clone()](const Tensor& grad, const std::vector<Tensor>&) {
        return std::vector<Tensor>{parameter_like, grad};
      };
      record(make_function("SizedBackward0", {}, rule), {parameter, at}, output);
      at = std::move(output);
    }
    return out_ > 0 ? reshaped(at) : at;
  }

 private:
  // Rows of `out_` elements, and a gradient of the input's shape.
  Tensor reshaped(const Tensor& at) const {
    Tensor output = Tensor::meta({at.shape().empty() ? 1 : at.shape()[0], out_}, at.dtype(), memory_);
    const auto rule = [shape = at.shape(), dtype = at.dtype(), memory = memory_](const Tensor&,
                                                                                 const std::vector<Tensor>&) {
      return std::vector<Tensor>{Tensor::meta(shape, dtype, memory)};
    };
    if (tracked({at})) record(make_function("SizedBackward0", {}, rule), {at}, output);
    return output;
  }

  std::int64_t out_;
  bool memory_;
};

}  // namespace

std::unique_ptr<Layer> make_sized(const LayerSpec& spec, DType dtype, bool memory) {
  return std::make_unique<Sized>(spec, dtype, memory);
}

Tensor timed(const Tensor& t, Time backward, const std::function<void(Time)>& clock) {
  if (!tracked({t})) return t;
  Tensor output = t.detach();
  const auto rule = [backward, clock](const Tensor& grad, const std::vector<Tensor>&) {
    clock(backward);
    return std::vector<Tensor>{grad};
  };
  record(make_function("TimedBackward0", {}, rule), {t}, output);
  return output;
}

}  // namespace pdsim::nn
