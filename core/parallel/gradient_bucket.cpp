#include "core/parallel/gradient_bucket.h"

#include "core/base/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim {
namespace {

template <class T, class F>
void transform(ConstView from, MutableView to, F f) {
  const T* in = reinterpret_cast<const T*>(from.data);
  T* out = reinterpret_cast<T*>(to.data);
  for (std::int64_t i = 0; i < to.count; ++i) out[i] = f(in[i]);
}

void multiply(ConstView from, MutableView to, double factor) {
  if (to.dtype == DType::f64) return transform<double>(from, to, [factor](double x) { return x * factor; });
  const auto single = static_cast<float>(factor);
  transform<float>(from, to, [single](float x) { return x * single; });
}

}  // namespace

void divide_by(nn::Tensor& t, int divisor) {
  if (!t.has_values()) return;
  const MutableView data = t.mutable_view();
  if (data.dtype == DType::f64)
    return transform<double>(data, data, [divisor](double x) { return x / static_cast<double>(divisor); });
  transform<float>(data, data, [divisor](float x) { return x / static_cast<float>(divisor); });
}

std::vector<BucketTensor> sizes_of(const std::vector<nn::Tensor>& parameters) {
  std::vector<BucketTensor> sizes;
  for (const nn::Tensor& p : parameters) sizes.push_back({p.numel(), p.dtype(), p.device()});
  return sizes;
}

GradientBucket make_bucket(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters) {
  GradientBucket bucket;
  bucket.parameters = indices;
  bucket.pending = indices.size();
  std::int64_t elements = 0;
  for (const std::size_t i : indices) elements += parameters[i].numel();
  const DType dtype = parameters[indices.front()].dtype();
  const auto any = [&](auto is_it) {
    return std::any_of(indices.begin(), indices.end(), [&](std::size_t i) { return is_it(parameters[i]); });
  };
  const bool values = any([](const nn::Tensor& p) { return p.has_values(); });
  const bool memory = any([](const nn::Tensor& p) { return p.has_memory(); });
  PDSIM_CHECK(!values || dtype == DType::f32 || dtype == DType::f64, "gradients are f32 or f64");
  bucket.flat = values ? nn::Tensor::zeros({elements}, dtype) : nn::Tensor::meta({elements}, dtype, memory);
  std::int64_t offset = 0;
  for (const std::size_t i : indices) {
    bucket.views.push_back(bucket.flat.slice(offset, parameters[i].shape()));
    offset += parameters[i].numel();
  }
  return bucket;
}

void take_gradient(nn::Tensor& parameter, nn::Tensor& view, int ranks, bool as_view) {
  const nn::Tensor gradient = parameter.grad();
  if (!gradient.defined() || (!gradient.has_values() && view.has_values())) {
    view.fill_(0.0);
  } else if (gradient.same_storage(view)) {
    divide_by(view, ranks);
  } else {
    if (view.has_values()) multiply(gradient.view(), view.mutable_view(), 1.0 / ranks);
    if (as_view) parameter.set_grad(view);
  }
}

Status give_gradient(nn::Tensor& parameter, nn::Tensor& view, bool as_view) {
  if (!parameter.has_values()) {
    if (!parameter.grad().defined()) parameter.set_grad(parameter.clone());
    return {};
  }
  nn::Tensor gradient = parameter.grad();
  if (!gradient.defined()) {
    parameter.set_grad(as_view ? view : view.clone());
  } else if (!as_view) {
    gradient.copy_(view.view());
  } else if (!gradient.same_storage(view)) {
    return Error{Code::autograd_misuse,
                 fmt::format("the gradient of {} was replaced during backward and is no longer DDP's bucket view; with "
                             "gradient_as_bucket_view a parameter may belong to one DDP only",
                             parameter.name()),
                 {{"parameter", parameter.name()}}};
  }
  return {};
}

void adopt_gradient(nn::Tensor& parameter, nn::Tensor& view) {
  const nn::Tensor gradient = parameter.grad();
  if (!gradient.defined() || gradient.same_storage(view)) return;
  view.copy_(gradient.view());
  parameter.set_grad(view);
}

std::vector<std::string> name_list(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters) {
  std::vector<std::string> names;
  for (const std::size_t i : indices) names.push_back(parameters[i].name());
  return names;
}

std::string names_of(const std::vector<std::size_t>& indices, const std::vector<nn::Tensor>& parameters) {
  std::string names;
  for (const std::size_t i : indices) names += (names.empty() ? "" : ", ") + parameters[i].name();
  return names;
}

}  // namespace pdsim
