#include "core/nn/functional.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

using Values = std::vector<double>;

Status same_shape(const char* operation, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape() && a.dtype() == b.dtype()) return {};
  return Error{
      Code::shape_mismatch,
      fmt::format("{} takes two tensors of one shape and type; these are {} [{}] and {} [{}]", operation,
                  name_of(a.dtype()), fmt::join(a.shape(), ", "), name_of(b.dtype()), fmt::join(b.shape(), ", ")),
      {{"operation", operation}}};
}

template <class F>
Tensor each(const Tensor& a, F f) {
  Values out = a.values();
  for (double& x : out) x = f(x);
  return Tensor::from(out, a.shape(), a.dtype());
}

template <class F>
Tensor each(const Tensor& a, const Tensor& b, F f) {
  Values out = a.values();
  const Values other = b.values();
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(out[i], other[i]);
  return Tensor::from(out, a.shape(), a.dtype());
}

Tensor product(const Tensor& a, const Tensor& b) {
  return each(a, b, [](double x, double y) { return x * y; });
}

SavedTensor saved_if(bool needed, const Tensor& t) { return needed ? SavedTensor(t) : SavedTensor(); }

// Per row log(softmax), shifted by the row's maximum so that no exponential overflows.
Values log_softmax(const Values& logits, std::size_t width) {
  Values out(logits.size());
  for (std::size_t row = 0; row < logits.size(); row += width) {
    double largest = logits[row];
    for (std::size_t c = 1; c < width; ++c) largest = std::max(largest, logits[row + c]);
    double total = 0;
    for (std::size_t c = 0; c < width; ++c) total += std::exp(logits[row + c] - largest);
    const double log_total = std::log(total);
    for (std::size_t c = 0; c < width; ++c) out[row + c] = logits[row + c] - largest - log_total;
  }
  return out;
}

}  // namespace

Result<Tensor> add(const Tensor& a, const Tensor& b) {
  PDSIM_TRY(same_shape("add", a, b));
  Tensor out = each(a, b, [](double x, double y) { return x + y; });
  const auto rule = [](const Tensor& grad, const std::vector<Tensor>&) { return std::vector<Tensor>{grad, grad}; };
  if (tracked({a, b})) record(make_function("AddBackward0", {}, rule), {a, b}, out);
  return out;
}

Result<Tensor> mul(const Tensor& a, const Tensor& b) {
  PDSIM_TRY(same_shape("mul", a, b));
  Tensor out = product(a, b);
  if (!tracked({a, b})) return out;
  const auto rule = [](const Tensor& grad, const std::vector<Tensor>& saved) {
    const auto times = [&grad](const Tensor& factor) { return factor.defined() ? product(grad, factor) : Tensor(); };
    return std::vector<Tensor>{times(saved[1]), times(saved[0])};
  };
  record(make_function("MulBackward0", {saved_if(b.requires_grad(), a), saved_if(a.requires_grad(), b)}, rule), {a, b},
         out);
  return out;
}

Result<Tensor> scale(const Tensor& a, double factor) {
  const auto times = [factor](double x) { return x * factor; };
  Tensor out = each(a, times);
  const auto rule = [times](const Tensor& grad, const std::vector<Tensor>&) {
    return std::vector<Tensor>{each(grad, times)};
  };
  if (tracked({a})) record(make_function("MulBackward0", {}, rule), {a}, out);
  return out;
}

Result<Tensor> concatenate_rows(const Tensor& a, const Tensor& b) {
  const bool fit =
      a.dtype() == b.dtype() && a.shape().size() == 2 && b.shape().size() == 2 && a.shape()[1] == b.shape()[1];
  if (!fit)
    return Error{Code::shape_mismatch,
                 fmt::format("rows of [{}] and [{}] do not fit on each other", fmt::join(a.shape(), ", "),
                             fmt::join(b.shape(), ", ")),
                 {{"operation", "concatenate_rows"}}};
  const Shape shape{a.shape()[0] + b.shape()[0], a.shape()[1]};
  Tensor out;
  if (a.has_values() && b.has_values()) {
    Values values = a.values();
    const Values below = b.values();
    values.insert(values.end(), below.begin(), below.end());
    out = Tensor::from(values, shape, a.dtype());
  } else {
    out = Tensor::meta(shape, a.dtype(), a.has_memory() && b.has_memory());
  }
  const auto rule = [upper = a.shape(), lower = b.shape()](const Tensor& grad, const std::vector<Tensor>&) {
    return std::vector<Tensor>{grad.slice(0, upper), grad.slice(upper[0] * upper[1], lower)};
  };
  if (tracked({a, b})) record(make_function("CatBackward0", {}, rule), {a, b}, out);
  return out;
}

Result<Tensor> sum(const Tensor& a) {
  double total = 0;
  for (const double x : a.values()) total += x;
  Tensor out = Tensor::from({total}, {}, a.dtype());
  const auto rule = [shape = a.shape()](const Tensor& grad, const std::vector<Tensor>&) {
    Tensor spread = Tensor::zeros(shape, grad.dtype());
    spread.fill_(grad.at(0));
    return std::vector<Tensor>{spread};
  };
  if (tracked({a})) record(make_function("SumBackward0", {}, rule), {a}, out);
  return out;
}

Result<Tensor> mse_loss(const Tensor& output, const Tensor& target) {
  PDSIM_TRY(same_shape("mse_loss", output, target));
  const Values squares = each(output, target, [](double o, double t) { return (o - t) * (o - t); }).values();
  double total = 0;
  for (const double s : squares) total += s;
  Tensor loss = Tensor::from({total / static_cast<double>(squares.size())}, {}, output.dtype());
  if (!tracked({output, target})) return loss;
  const auto rule = [](const Tensor& grad, const std::vector<Tensor>& saved) {
    const double factor = 2.0 / static_cast<double>(saved[0].numel()) * grad.at(0);
    Tensor to_output = each(saved[0], saved[1], [factor](double o, double t) { return factor * (o - t); });
    Tensor to_target = each(to_output, [](double g) { return -g; });
    return std::vector<Tensor>{std::move(to_output), std::move(to_target)};
  };
  record(make_function("MseLossBackward0", {SavedTensor(output), SavedTensor(target)}, rule), {output, target}, loss);
  return loss;
}

Result<Tensor> cross_entropy_loss(const Tensor& logits, const std::vector<std::int64_t>& classes) {
  const bool fits = logits.shape().size() == 2 && logits.shape()[0] == static_cast<std::int64_t>(classes.size());
  if (!fits || logits.shape()[1] == 0)
    return Error{Code::shape_mismatch,
                 fmt::format("cross_entropy_loss takes logits [rows, classes] and one class per row; these are logits "
                             "[{}] and {} classes",
                             fmt::join(logits.shape(), ", "), classes.size()),
                 {{"operation", "cross_entropy_loss"}}};
  const std::int64_t width = logits.shape()[1];
  for (const std::int64_t c : classes)
    if (c < 0 || c >= width)
      return Error{Code::invalid_argument,
                   fmt::format("class {} is out of bounds: the logits have {} classes, numbered from 0", c, width),
                   {{"operation", "cross_entropy_loss"}}};
  const auto columns = static_cast<std::size_t>(width);
  const auto rows = static_cast<double>(classes.size());
  const Tensor log_probability = Tensor::from(log_softmax(logits.values(), columns), logits.shape(), logits.dtype());
  double total = 0;
  for (std::size_t r = 0; r < classes.size(); ++r)
    total -= log_probability.at(static_cast<std::int64_t>(r) * width + classes[r]);
  Tensor loss = Tensor::from({total / rows}, {}, logits.dtype());
  if (!tracked({logits})) return loss;
  const auto rule = [classes, columns, rows](const Tensor& grad, const std::vector<Tensor>& saved) {
    Values out = saved[0].values();
    for (double& x : out) x = std::exp(x);
    for (std::size_t r = 0; r < classes.size(); ++r) out[r * columns + static_cast<std::size_t>(classes[r])] -= 1.0;
    const double factor = grad.at(0) / rows;
    for (double& x : out) x *= factor;
    return std::vector<Tensor>{Tensor::from(out, saved[0].shape(), saved[0].dtype())};
  };
  record(make_function("CrossEntropyLossBackward0", {SavedTensor(log_probability)}, rule), {logits}, loss);
  return loss;
}

}  // namespace pdsim::nn
