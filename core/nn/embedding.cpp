// Embedding: rows of a table, by index.
#include "core/base/check.h"
#include "core/nn/layers.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;

// Each of the input's columns is an index; its row stands in the output, one after another. The gradient is dense.
class Embedding final : public Layer {
 public:
  Embedding(const LayerSpec& spec, DType dtype, const Random& random) : spec_(spec), width_(spec.out / spec.in) {
    PDSIM_CHECK(spec.rows > 0 && spec.in > 0 && width_ > 0, "an embedding has rows and columns");
    parameters.push_back(uniform_parameter(spec.name + ".weight", {spec.rows, width_}, 1.0, dtype, random));
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher&) override {
    PDSIM_TRY(check_width(spec_.name, input, spec_.in));
    std::vector<std::size_t> indices;
    for (const double v : input.values()) {
      if (!(v >= 0.0 && v < static_cast<double>(spec_.rows)))
        return Error{
            Code::invalid_argument,
            fmt::format("layer {}: index {} is out of range; its table has rows 0..{}", spec_.name, v, spec_.rows - 1),
            {{"layer", spec_.name}}};
      indices.push_back(static_cast<std::size_t>(v));
    }
    const auto width = static_cast<std::size_t>(width_);
    const Values table = parameters[0].values();
    Values out;
    for (const std::size_t row : indices)
      out.insert(out.end(), table.begin() + static_cast<std::ptrdiff_t>(row * width),
                 table.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
    Tensor output = Tensor::from(out, {input.shape()[0], spec_.out}, parameters[0].dtype());
    if (!mode.grad || !tracked({parameters[0]})) return output;
    const auto rule = [indices, width, shape = parameters[0].shape()](const Tensor& grad, const std::vector<Tensor>&) {
      const Values g = grad.values();
      Tensor sums = Tensor::zeros(shape, grad.dtype());
      Values to = sums.values();
      for (std::size_t i = 0; i < g.size(); ++i) to[indices[i / width] * width + i % width] += g[i];
      return std::vector<Tensor>{Tensor::from(to, shape, grad.dtype())};
    };
    record(make_function("EmbeddingBackward0", {}, rule), {parameters[0]}, output);
    return output;
  }

 private:
  LayerSpec spec_;
  std::int64_t width_;
};

}  // namespace

std::unique_ptr<Layer> make_embedding(const LayerSpec& spec, DType dtype, const Random& random) {
  return std::make_unique<Embedding>(spec, dtype, random);
}

}  // namespace pdsim::nn
