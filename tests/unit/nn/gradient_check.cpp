#include "tests/unit/nn/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::nn {

Tensor random_tensor(Random& random, Shape shape) {
  Tensor t = Tensor::zeros(std::move(shape), DType::f64);
  Values values(static_cast<std::size_t>(t.numel()));
  for (double& v : values) v = 2.0 * random.unit() - 1.0;
  return Tensor::from(values, t.shape(), DType::f64);
}

Tensor leaf(const Values& values, Shape shape, const std::string& name) {
  return Tensor::from(values, std::move(shape), DType::f64).set_name(name).set_requires_grad(true);
}

Status backward(const Tensor& root) { return BackwardPass().run(std::span(&root, 1)); }

void expect_gradients(const std::vector<Tensor>& leaves, const Scalar& f, const std::string& what) {
  std::vector<Tensor> handles = leaves;
  for (Tensor& t : handles) t.set_grad({});
  const auto loss = f();
  ASSERT_TRUE(loss.ok()) << what << ": " << loss.error().message;
  const Status status = backward(*loss);
  ASSERT_TRUE(status.ok()) << what << ": " << status.error().message;
  constexpr double h = 1e-6;
  for (std::size_t k = 0; k < handles.size(); ++k) {
    ASSERT_TRUE(handles[k].grad().defined()) << what << ", leaf " << k;
    const Values base = handles[k].values();
    const auto value_at = [&](std::size_t i, double x) {
      Values moved = base;
      moved[i] = x;
      handles[k].copy_(Tensor::from(moved, handles[k].shape(), DType::f64).view());
      return f().value().at(0);
    };
    for (std::size_t i = 0; i < base.size(); ++i) {
      const double slope = (value_at(i, base[i] + h) - value_at(i, base[i] - h)) / (2 * h);
      const double got = handles[k].grad().at(static_cast<std::int64_t>(i));
      ASSERT_NEAR(got, slope, 1e-7 * std::max(1.0, std::abs(slope))) << what << ", leaf " << k << " [" << i << "]";
    }
    value_at(0, base[0]);
  }
}

void expect_module_gradients(Module& module, Tensor input, const std::string& path, ForwardMode mode) {
  input.set_requires_grad(true);
  std::vector<Tensor> leaves = module.parameters();
  leaves.push_back(input);
  const Scalar f = [&]() -> Result<Tensor> {
    auto output = module.forward(input, path, mode);
    if (!output.ok()) return output;
    Random weights(77);
    const auto weighted = mul(*output, random_tensor(weights, output->shape()));
    return weighted.ok() ? sum(*weighted) : weighted;
  };
  expect_gradients(leaves, f, path);
}

ModuleSpec spec_of(std::vector<LayerSpec> layers, std::vector<PathSpec> paths) {
  return {std::move(layers), std::move(paths), DType::f64};
}

}  // namespace pdsim::nn
