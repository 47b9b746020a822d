// Gradients against central finite differences in f64, and the small helpers that nn's tests share.
#pragma once

#include "core/base/random.h"
#include "core/nn/functional.h"
#include "core/nn/module.h"

#include <functional>
#include <string>
#include <vector>

namespace pdsim::nn {

using Values = std::vector<double>;

// Values in [-1, 1), of type f64.
Tensor random_tensor(Random& random, Shape shape);
Tensor leaf(const Values& values, Shape shape, const std::string& name = "");

// Runs backward from one scalar.
Status backward(const Tensor& root);

// Computes a scalar from the leaves afresh; it may not keep anything between calls.
using Scalar = std::function<Result<Tensor>()>;

// Every element's gradient of every leaf agrees with (f(x + h) - f(x - h)) / 2h.
void expect_gradients(const std::vector<Tensor>& leaves, const Scalar& f, const std::string& what);

// The module's parameters and `input` as leaves, the sum of output times fixed weights as scalar.
void expect_module_gradients(Module& module, Tensor input, const std::string& path, ForwardMode mode);

ModuleSpec spec_of(std::vector<LayerSpec> layers, std::vector<PathSpec> paths = {});

}  // namespace pdsim::nn
