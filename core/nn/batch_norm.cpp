#include "core/base/check.h"
#include "core/nn/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;
constexpr double momentum = 0.1;
constexpr double eps = 1e-5;

// What one forward normalises with, per feature.
struct Statistics {
  Values mean, inverse_deviation;
};

struct Sums {
  Values gradient;  // over the batch
  Values product;   // of gradient and centred input
};

Sums sums_of(const Values& g, const Values& x, const Statistics& s) {
  const std::size_t width = s.mean.size();
  Sums sums{Values(width, 0.0), Values(width, 0.0)};
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t f = i % width;
    sums.gradient[f] += g[i];
    sums.product[f] += (x[i] - s.mean[f]) * g[i];
  }
  return sums;
}

// Batch statistics depend on the input, running statistics do not.
Values input_gradient(const Values& g, const Values& x, const Values& weight, const Statistics& s, const Sums& sums,
                      bool training) {
  const std::size_t width = s.mean.size();
  const std::size_t rows = g.size() / width;
  const auto batch = static_cast<double>(rows);
  Values out(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const std::size_t f = i % width;
    const double slope = s.inverse_deviation[f] * weight[f];
    const double through_variance = sums.product[f] * s.inverse_deviation[f] * s.inverse_deviation[f] / batch;
    const double through_mean = sums.gradient[f] / batch;
    out[i] = (training ? g[i] - through_mean - (x[i] - s.mean[f]) * through_variance : g[i]) * slope;
  }
  return out;
}

// Saved, in order: input, running_mean, running_var, weight.
GradientRule gradient_rule(const Statistics& s, bool training) {
  return [s, training](const Tensor& grad, const std::vector<Tensor>& saved) {
    const Values g = grad.values();
    const Values x = saved[0].values();
    const Sums sums = sums_of(g, x, s);
    const Values dx = input_gradient(g, x, saved[3].values(), s, sums, training);
    Values dw = sums.product;
    for (std::size_t f = 0; f < dw.size(); ++f) dw[f] *= s.inverse_deviation[f];
    const Shape per_feature = saved[3].shape();
    return std::vector<Tensor>{Tensor::from(dx, grad.shape(), grad.dtype()),
                               Tensor::from(dw, per_feature, grad.dtype()),
                               Tensor::from(sums.gradient, per_feature, grad.dtype())};
  };
}

class BatchNorm final : public Layer {
 public:
  BatchNorm(const LayerSpec& spec, DType dtype) : name_(spec.name), width_(spec.in) {
    PDSIM_CHECK(spec.in > 0, "a batch-norm layer has features");
    const auto constant = [&](const char* what, double value) {
      Tensor t = Tensor::from(Values(static_cast<std::size_t>(width_), value), {width_}, dtype);
      return t.set_name(name_ + "." + what);
    };
    parameters = {constant("weight", 1.0).set_requires_grad(true), constant("bias", 0.0).set_requires_grad(true)};
    buffers = {constant("running_mean", 0.0), constant("running_var", 1.0),
               Tensor::zeros({}, DType::i64).set_name(name_ + ".num_batches_tracked")};
  }

  Result<Tensor> forward(const Tensor& input, ForwardMode mode, const TensorWatcher& watch) override {
    PDSIM_TRY(check_width(name_, input, width_));
    if (mode.training && input.shape()[0] < 2)
      return Error{Code::shape_mismatch,
                   fmt::format("layer {} normalises over the batch in training, so it takes 2 rows or more; the input "
                               "has {}",
                               name_, input.shape()[0]),
                   {{"layer", name_}}};
    const Statistics s = mode.training ? batch_statistics(input.values(), watch) : running_statistics();
    Tensor output = normalise(input, s);
    if (!mode.grad || !tracked({input, parameters[0], parameters[1]})) return output;
    std::vector<SavedTensor> saved;
    for (const Tensor& t : {input, buffers[0], buffers[1], parameters[0]}) saved.push_back(save(t, name_, watch));
    record(make_function("NativeBatchNormBackward0", std::move(saved), gradient_rule(s, mode.training)),
           {input, parameters[0], parameters[1]}, output);
    return output;
  }

 private:
  // Also moves the running statistics, without raising their versions: PyTorch's kernel writes them unseen by autograd.
  Statistics batch_statistics(const Values& x, const TensorWatcher& watch) {
    const auto width = static_cast<std::size_t>(width_);
    const std::size_t rows = x.size() / width;
    const auto batch = static_cast<double>(rows);
    Statistics s{Values(width, 0.0), Values(width, 0.0)};
    for (std::size_t i = 0; i < x.size(); ++i) s.mean[i % width] += x[i];
    for (double& m : s.mean) m /= batch;
    Values squares(width, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double centred = x[i] - s.mean[i % width];
      squares[i % width] += centred * centred;
    }
    Values unbiased(width);
    for (std::size_t f = 0; f < width; ++f) {
      s.inverse_deviation[f] = 1.0 / std::sqrt(squares[f] / batch + eps);
      unbiased[f] = squares[f] / (batch - 1.0);
    }
    move_towards(buffers[0], s.mean);
    move_towards(buffers[1], unbiased);
    buffers[2].fill_(buffers[2].at(0) + 1.0);
    if (watch) watch({false, buffers[2].name(), buffers[2].version(), name_});
    return s;
  }

  static void move_towards(Tensor& running, const Values& current) {
    Values values = running.values();
    for (std::size_t f = 0; f < values.size(); ++f) values[f] = momentum * current[f] + (1.0 - momentum) * values[f];
    const Tensor moved = Tensor::from(values, running.shape(), running.dtype());
    const std::byte* from = moved.view().data;
    std::copy(from, from + moved.view().bytes(), running.mutable_view().data);
  }

  Statistics running_statistics() const {
    Statistics s{buffers[0].values(), buffers[1].values()};
    for (double& v : s.inverse_deviation) v = 1.0 / std::sqrt(v + eps);
    return s;
  }

  Tensor normalise(const Tensor& input, const Statistics& s) const {
    const auto width = static_cast<std::size_t>(width_);
    const Values weight = parameters[0].values();
    const Values bias = parameters[1].values();
    Values y = input.values();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t f = i % width;
      y[i] = (y[i] - s.mean[f]) * s.inverse_deviation[f] * weight[f] + bias[f];
    }
    return Tensor::from(y, input.shape(), input.dtype());
  }

  std::string name_;
  std::int64_t width_;
};

}  // namespace

std::unique_ptr<Layer> make_batch_norm(const LayerSpec& spec, DType dtype) {
  return std::make_unique<BatchNorm>(spec, dtype);
}

}  // namespace pdsim::nn
