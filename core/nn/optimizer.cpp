#include "core/nn/optimizer.h"

#include "core/nn/tensor_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::nn {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerSpec& spec, std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters)), spec_(spec), momentum_(parameters_.size()) {}

  void step() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      if (parameters_[i].has_values())
        with_float_type(parameters_[i].dtype(), [&](auto t) { update<decltype(t)>(parameters_[i], momentum_[i]); });
      parameters_[i].bump_version();
    }
  }

  void set(double lr, double momentum) override { spec_.lr = lr, spec_.momentum = momentum; }

 private:
  template <class T>
  void update(Tensor& parameter, Tensor& momentum) const {
    Tensor direction = parameter.grad();
    if (spec_.momentum != 0.0) {
      blend<T>(momentum, direction);
      direction = momentum;
    }
    const auto p = mutable_elements<T>(parameter);
    const auto d = elements<T>(direction);
    const T rate = static_cast<T>(-spec_.lr);
    for (std::size_t k = 0; k < p.size(); ++k) p[k] += rate * d[k];
  }

  // The first step takes the gradient itself.
  template <class T>
  void blend(Tensor& momentum, const Tensor& gradient) const {
    if (!momentum.defined()) {
      momentum = gradient.clone();
      return;
    }
    const auto m = mutable_elements<T>(momentum);
    const auto g = elements<T>(gradient);
    const T factor = static_cast<T>(spec_.momentum);
    for (std::size_t k = 0; k < m.size(); ++k) m[k] = factor * m[k] + g[k];
  }

  OptimizerSpec spec_;
  std::vector<Tensor> momentum_;
};

class Adam final : public Optimizer {
 public:
  Adam(const OptimizerSpec& spec, std::vector<Tensor> parameters)
      : Optimizer(std::move(parameters)), spec_(spec), moments_(parameters_.size()) {}

  void step() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      if (parameters_[i].has_values())
        with_float_type(parameters_[i].dtype(), [&](auto t) { update<decltype(t)>(parameters_[i], moments_[i]); });
      parameters_[i].bump_version();
    }
  }

  void set(double lr, double /*momentum*/) override { spec_.lr = lr; }

 private:
  struct Moments {
    Tensor first, second;
    double power1 = 1.0;  // beta1 to the number of steps, by multiplication: libm's pow differs between libraries
    double power2 = 1.0;
  };

  template <class T>
  void update(Tensor& parameter, Moments& moments) const {
    if (!moments.first.defined()) {
      moments.first = Tensor::zeros(parameter.shape(), parameter.dtype());
      moments.second = Tensor::zeros(parameter.shape(), parameter.dtype());
    }
    moments.power1 *= spec_.beta1;
    moments.power2 *= spec_.beta2;
    const T rate = static_cast<T>(-(spec_.lr / (1.0 - moments.power1)));
    const T correction = static_cast<T>(std::sqrt(1.0 - moments.power2));
    const T beta1 = static_cast<T>(spec_.beta1);
    const T beta2 = static_cast<T>(spec_.beta2);
    const T rest1 = static_cast<T>(1.0 - spec_.beta1);
    const T rest2 = static_cast<T>(1.0 - spec_.beta2);
    const T eps = static_cast<T>(spec_.eps);
    const Tensor gradient = parameter.grad();
    const auto g = elements<T>(gradient);
    const auto m = mutable_elements<T>(moments.first);
    const auto v = mutable_elements<T>(moments.second);
    const auto p = mutable_elements<T>(parameter);
    for (std::size_t k = 0; k < p.size(); ++k) {
      m[k] = beta1 * m[k] + rest1 * g[k];
      v[k] = beta2 * v[k] + rest2 * g[k] * g[k];
      p[k] += rate * m[k] / (std::sqrt(v[k]) / correction + eps);
    }
  }

  OptimizerSpec spec_;
  std::vector<Moments> moments_;
};

class MasterCopies final : public Optimizer {
 public:
  MasterCopies(OptimizerSpec spec, std::vector<Tensor> parameters) : Optimizer(std::move(parameters)) {
    for (const Tensor& p : parameters_) copies_.push_back(p.clone());
    spec.copies = false;
    inner_ = Optimizer::make(spec, copies_);
  }

  void step() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) copies_[i].set_grad(parameters_[i].grad());
    inner_->step();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!parameters_[i].grad().defined()) continue;
      parameters_[i].bump_version();
      if (!parameters_[i].has_values()) continue;
      with_float_type(parameters_[i].dtype(), [&](auto t) {
        const auto from = elements<decltype(t)>(copies_[i]);
        const auto to = mutable_elements<decltype(t)>(parameters_[i]);
        for (std::size_t k = 0; k < to.size(); ++k) to[k] = from[k];
      });
    }
  }

  void set(double lr, double momentum) override { inner_->set(lr, momentum); }

 private:
  std::vector<Tensor> copies_;
  std::unique_ptr<Optimizer> inner_;
};

}  // namespace

std::int64_t state_bytes(const OptimizerSpec& spec, DType dtype, std::int64_t elements) {
  const bool adam = spec.kind == OptimizerSpec::Kind::adam;
  const int numbers = (adam ? 2 : spec.momentum != 0.0 ? 1 : 0) + (spec.copies ? 1 : 0);
  return elements * numbers * static_cast<std::int64_t>(std::max<std::size_t>(4, size_of(dtype)));
}

void Optimizer::zero_grad() {
  for (Tensor& p : parameters_) p.set_grad({});
}

void Optimizer::divide_grad(double by) {
  for (Tensor& p : parameters_) {
    Tensor gradient = p.grad();
    if (!gradient.defined() || !gradient.has_values()) continue;
    with_float_type(gradient.dtype(), [&](auto t) {
      for (auto& element : mutable_elements<decltype(t)>(gradient)) element /= static_cast<decltype(t)>(by);
    });
  }
}

std::unique_ptr<Optimizer> Optimizer::make(const OptimizerSpec& spec, std::vector<Tensor> parameters) {
  if (spec.copies) return std::make_unique<MasterCopies>(spec, std::move(parameters));
  if (spec.kind == OptimizerSpec::Kind::adam) return std::make_unique<Adam>(spec, std::move(parameters));
  return std::make_unique<Sgd>(spec, std::move(parameters));
}

}  // namespace pdsim::nn
