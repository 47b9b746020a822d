// LayerNorm over the columns of each row, and Dropout.
#include "core/base/check.h"
#include "core/nn/layers.h"

#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;
constexpr double layer_norm_eps = 1e-5;

// Per row.
struct Statistics {
  Values mean, inverse_deviation;
};

Statistics statistics_of(const Values& x, std::size_t width) {
  Statistics s;
  for (std::size_t row = 0; row < x.size(); row += width) {
    double mean = 0.0, squares = 0.0;
    for (std::size_t c = 0; c < width; ++c) mean += x[row + c];
    mean /= static_cast<double>(width);
    for (std::size_t c = 0; c < width; ++c) squares += (x[row + c] - mean) * (x[row + c] - mean);
    s.mean.push_back(mean);
    s.inverse_deviation.push_back(1.0 / std::sqrt(squares / static_cast<double>(width) + layer_norm_eps));
  }
  return s;
}

// Saved, in order: input, weight.
std::vector<Tensor> gradients(const Statistics& s, const Tensor& grad, const std::vector<Tensor>& saved) {
  const Values g = grad.values(), x = saved[0].values(), w = saved[1].values();
  const std::size_t width = w.size();
  Values dx(x.size()), dw(width), db(width);
  for (std::size_t row = 0; row * width < x.size(); ++row) {
    double sum = 0.0, product = 0.0;
    for (std::size_t c = 0; c < width; ++c) {
      const double normal = (x[row * width + c] - s.mean[row]) * s.inverse_deviation[row];
      const double d = g[row * width + c] * w[c];
      dw[c] += g[row * width + c] * normal;
      db[c] += g[row * width + c];
      sum += d;
      product += d * normal;
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double normal = (x[row * width + c] - s.mean[row]) * s.inverse_deviation[row];
      const double d = g[row * width + c] * w[c];
      dx[row * width + c] = (d - (sum + normal * product) / static_cast<double>(width)) * s.inverse_deviation[row];
    }
  }
  return {Tensor::from(dx, grad.shape(), grad.dtype()), Tensor::from(dw, saved[1].shape(), grad.dtype()),
          Tensor::from(db, saved[1].shape(), grad.dtype())};
}

class LayerNorm final : public Layer {
 public:
  LayerNorm(const LayerSpec& spec, DType dtype) : spec_(spec) {
    PDSIM_CHECK(spec.in > 0, "a layer-norm layer has features");
    for (const auto& [what, value] : {std::pair{".weight", 1.0}, std::pair{".bias", 0.0}}) {
      Tensor t = Tensor::from(Values(static_cast<std::size_t>(spec.in), value), {spec.in}, dtype);
      parameters.push_back(t.set_name(spec.name + what).set_requires_grad(true));
    }
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    PDSIM_TRY(check_width(spec_.name, input, spec_.in));
    const Values x = input.values(), w = parameters[0].values(), b = parameters[1].values();
    const std::size_t width = w.size();
    const Statistics s = statistics_of(x, width);
    Values y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i] - s.mean[i / width]) * s.inverse_deviation[i / width] * w[i % width] + b[i % width];
    Tensor output = Tensor::from(y, input.shape(), input.dtype());
    if (!mode.grad || !tracked({input, parameters[0], parameters[1]})) return output;
    std::vector<SavedTensor> saved{save(input, spec_.name, watch), save(parameters[0], spec_.name, watch)};
    const auto rule = [s](const Tensor& grad, const std::vector<Tensor>& kept) { return gradients(s, grad, kept); };
    record(make_function("NativeLayerNormBackward0", std::move(saved), rule), {input, parameters[0], parameters[1]},
           output);
    return output;
  }

 private:
  LayerSpec spec_;
};

// A mask of its own for every forward, from the module's noise and the number of forwards before.
class Dropout final : public Layer {
 public:
  explicit Dropout(const LayerSpec& spec) : spec_(spec) {
    PDSIM_CHECK(spec.probability >= 0.0 && spec.probability <= 1.0, "a probability lies between 0 and 1");
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher&) override {
    if (!mode.training) return input;
    Random draws = noise.stream(spec_.name, forwards_++);
    const double scale = spec_.probability < 1.0 ? 1.0 / (1.0 - spec_.probability) : 0.0;
    Values mask(static_cast<std::size_t>(input.numel()));
    for (double& m : mask) m = draws.unit() < spec_.probability ? 0.0 : scale;
    Tensor output = masked(input, mask);
    if (!mode.grad || !tracked({input})) return output;
    const auto rule = [mask](const Tensor& grad, const std::vector<Tensor>&) {
      return std::vector<Tensor>{masked(grad, mask)};
    };
    record(make_function("MulBackward0", {}, rule), {input}, output);
    return output;
  }

 private:
  static Tensor masked(const Tensor& t, const Values& mask) {
    Values values = t.values();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= mask[i];
    return Tensor::from(values, t.shape(), t.dtype());
  }

  LayerSpec spec_;
  std::uint64_t forwards_ = 0;
};

}  // namespace

std::unique_ptr<Layer> make_layer_norm(const LayerSpec& spec, DType dtype) {
  return std::make_unique<LayerNorm>(spec, dtype);
}

std::unique_ptr<Layer> make_dropout(const LayerSpec& spec) { return std::make_unique<Dropout>(spec); }

}  // namespace pdsim::nn
