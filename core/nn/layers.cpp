#include "core/nn/layers.h"

#include "core/base/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;

struct Sizes {
  std::size_t batch, in, out;
};

// grad [batch, out] times weight [out, in].
Tensor input_gradient(const Tensor& grad, const Tensor& weight, Sizes n) {
  const Values g = grad.values();
  const Values w = weight.values();
  Values out(n.batch * n.in, 0.0);
  for (std::size_t b = 0; b < n.batch; ++b)
    for (std::size_t o = 0; o < n.out; ++o)
      for (std::size_t i = 0; i < n.in; ++i) out[b * n.in + i] += g[b * n.out + o] * w[o * n.in + i];
  return Tensor::from(out, {static_cast<std::int64_t>(n.batch), static_cast<std::int64_t>(n.in)}, grad.dtype());
}

// grad [batch, out], transposed, times input [batch, in].
Tensor weight_gradient(const Tensor& grad, const Tensor& input, Sizes n) {
  const Values g = grad.values();
  const Values x = input.values();
  Values out(n.out * n.in, 0.0);
  for (std::size_t b = 0; b < n.batch; ++b)
    for (std::size_t o = 0; o < n.out; ++o)
      for (std::size_t i = 0; i < n.in; ++i) out[o * n.in + i] += g[b * n.out + o] * x[b * n.in + i];
  return Tensor::from(out, {static_cast<std::int64_t>(n.out), static_cast<std::int64_t>(n.in)}, grad.dtype());
}

Tensor bias_gradient(const Tensor& grad, Sizes n) {
  const Values g = grad.values();
  Values out(n.out, 0.0);
  for (std::size_t b = 0; b < n.batch; ++b)
    for (std::size_t o = 0; o < n.out; ++o) out[o] += g[b * n.out + o];
  return Tensor::from(out, {static_cast<std::int64_t>(n.out)}, grad.dtype());
}

// As PyTorch's addmm(bias, input, weight.t()): two nodes, so that bias, weight and then the layer before get their
// gradients in that order.
class Linear final : public Layer {
 public:
  Linear(const LayerSpec& spec, DType dtype, const Random& random) : spec_(spec) {
    PDSIM_CHECK(spec.in > 0 && spec.out > 0, "a linear layer has inputs and outputs");
    const double bound = 1.0 / std::sqrt(static_cast<double>(spec.in));
    parameters.push_back(uniform_parameter(spec.name + ".weight", {spec.out, spec.in}, bound, dtype, random));
    parameters.push_back(uniform_parameter(spec.name + ".bias", {spec.out}, bound, dtype, random));
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    PDSIM_TRY(check_width(spec_.name, input, spec_.in));
    const Tensor& weight = parameters[0];
    const Tensor& bias = parameters[1];
    const Sizes n{static_cast<std::size_t>(input.shape()[0]), static_cast<std::size_t>(spec_.in),
                  static_cast<std::size_t>(spec_.out)};
    Tensor output = multiply(input, n);
    if (!mode.grad || !tracked({input, weight, bias})) return output;

    // Memory, version and history of weight.t(); the rules below know that its elements lie as in weight.
    Tensor transposed = weight.slice(0, {spec_.in, spec_.out}).set_name(weight.name());
    const auto pass = [](const Tensor& grad, const std::vector<Tensor>&) { return std::vector<Tensor>{grad}; };
    if (weight.requires_grad()) record(make_function("TBackward0", {}, pass), {weight}, transposed);
    const bool bias_needs = bias.requires_grad();
    const auto rule = [n, bias_needs](const Tensor& grad, const std::vector<Tensor>& saved) {
      return std::vector<Tensor>{bias_needs ? bias_gradient(grad, n) : Tensor(),
                                 saved[1].defined() ? input_gradient(grad, saved[1], n) : Tensor(),
                                 saved[0].defined() ? weight_gradient(grad, saved[0], n) : Tensor()};
    };
    std::vector<SavedTensor> saved(2);
    if (weight.requires_grad()) saved[0] = save(input, spec_.name, watch);
    if (input.requires_grad()) saved[1] = save(transposed, spec_.name, watch);
    record(make_function("AddmmBackward0", std::move(saved), rule), {bias, input, transposed}, output);
    return output;
  }

 private:
  Tensor multiply(const Tensor& input, Sizes n) const {
    const Values x = input.values();
    const Values w = parameters[0].values();
    const Values b = parameters[1].values();
    Values y(n.batch * n.out);
    for (std::size_t r = 0; r < n.batch; ++r)
      for (std::size_t o = 0; o < n.out; ++o) {
        double total = 0.0;
        for (std::size_t i = 0; i < n.in; ++i) total += x[r * n.in + i] * w[o * n.in + i];
        y[r * n.out + o] = total + b[o];
      }
    return Tensor::from(y, {input.shape()[0], spec_.out}, input.dtype());
  }

  LayerSpec spec_;
};

class Relu final : public Layer {
 public:
  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher&) override {
    Values values = input.values();
    for (double& v : values) v = v < 0.0 ? 0.0 : v;  // a NaN passes, as in PyTorch
    Tensor output = Tensor::from(values, input.shape(), input.dtype());
    if (!mode.grad || !tracked({input})) return output;
    const auto rule = [](const Tensor& grad, const std::vector<Tensor>& saved) {
      Values g = grad.values();
      const Values y = saved[0].values();
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = y[i] <= 0.0 ? 0.0 : g[i];
      return std::vector<Tensor>{Tensor::from(g, grad.shape(), grad.dtype())};
    };
    constexpr const char* name = "ReluBackward0";
    record(make_function(name, {SavedTensor(output, name)}, rule), {input}, output);
    return output;
  }
};

}  // namespace

Tensor uniform_parameter(const std::string& name, Shape shape, double bound, DType dtype, const Random& random) {
  Random draws = random.stream(name);
  Tensor t = Tensor::zeros(std::move(shape), dtype);
  Values values(static_cast<std::size_t>(t.numel()));
  for (double& v : values) v = (2.0 * draws.unit() - 1.0) * bound;
  return Tensor::from(values, t.shape(), dtype).set_name(name).set_requires_grad(true);
}

SavedTensor save(const Tensor& t, const std::string& layer, const TensorWatcher& watch) {
  if (watch && !t.name().empty()) watch({true, t.name(), t.version(), layer});
  return SavedTensor(t);
}

Status check_width(const std::string& layer, const Tensor& input, std::int64_t width) {
  if (input.shape().size() == 2 && input.shape()[1] == width) return {};
  return Error{
      Code::shape_mismatch,
      fmt::format("layer {} takes [batch, {}], and its input is [{}]", layer, width, fmt::join(input.shape(), ", ")),
      {{"layer", layer}}};
}

std::unique_ptr<Layer> Layer::make(const LayerSpec& spec, DType dtype, const Random& random, bool sizes_have_memory) {
  switch (spec.kind) {
    case LayerKind::linear:
      if (spec.split != TensorSplit::none) return make_split_linear(spec, dtype, random);
      return std::make_unique<Linear>(spec, dtype, random);
    case LayerKind::batchnorm:
    case LayerKind::batchnorm2d:
    case LayerKind::sync_batchnorm:
      return make_batch_norm(spec, dtype);
    case LayerKind::embedding:
      return make_embedding(spec, dtype, random);
    case LayerKind::conv2d:
      return make_conv2d(spec, dtype, random);
    case LayerKind::layernorm:
      return make_layer_norm(spec, dtype);
    case LayerKind::dropout:
      return make_dropout(spec);
    case LayerKind::meta:
      return make_sized(spec, dtype, sizes_have_memory);
    case LayerKind::relu:
      break;
  }
  return std::make_unique<Relu>();
}

}  // namespace pdsim::nn
