// Training to the bit: layers, losses, backward and optimizers, in f32 and f64.

#include "core/base/check.h"
#include "core/base/fingerprint.h"
#include "core/base/random.h"
#include "core/nn/functional.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"
#include "tests/fingerprints/fingerprints.h"

#include <span>
#include <vector>

namespace pdsim::fingerprints {
namespace {

nn::Tensor draws(Random& random, nn::Shape shape, DType dtype) {
  nn::Tensor t = nn::Tensor::zeros(std::move(shape), dtype);
  std::vector<double> values(static_cast<std::size_t>(t.numel()));
  for (double& v : values) v = random.unit() - 0.5;
  return nn::Tensor::from(values, t.shape(), dtype);
}

void add(Fingerprint& fingerprint, const nn::Tensor& t) {
  fingerprint.add(t.view().data, static_cast<std::size_t>(t.view().bytes()));
}

void train(Fingerprint& fingerprint, DType dtype, nn::OptimizerSpec::Kind kind, bool classify) {
  nn::ModuleSpec spec;
  spec.dtype = dtype;
  spec.layers = {{"fc1", nn::LayerKind::linear, 7, 13},
                 {"norm", nn::LayerKind::batchnorm, 13, 0},
                 {"act", nn::LayerKind::relu, 0, 0},
                 {"fc2", nn::LayerKind::linear, 13, 5}};
  nn::Module module(spec, Random(3));
  const auto optimizer = nn::Optimizer::make({kind, 0.05, 0.9}, module.parameters());
  Random random(4);
  for (int step = 0; step < 20; ++step) {
    const nn::Tensor input = draws(random, {11, 7}, dtype);
    const nn::Tensor target = draws(random, {11, 5}, dtype);
    std::vector<std::int64_t> classes(11);
    for (std::int64_t& c : classes) c = static_cast<std::int64_t>(random.below(5));
    const auto output = module.forward(input, "", {});
    const auto loss = classify ? nn::cross_entropy_loss(*output, classes) : nn::mse_loss(*output, target);
    const Status status = nn::BackwardPass().run(std::span(&*loss, 1));
    PDSIM_CHECK(status.ok(), "this loss can be differentiated");
    optimizer->step();
    add(fingerprint, *loss);
    for (nn::Tensor& p : module.parameters()) {
      add(fingerprint, p.grad());
      add(fingerprint, p);
    }
    for (const nn::Tensor& b : module.buffers()) add(fingerprint, b);
    optimizer->zero_grad();
  }
}

}  // namespace

std::uint64_t training() {
  Fingerprint fingerprint;
  for (const DType dtype : {DType::f32, DType::f64})
    for (const auto kind : {nn::OptimizerSpec::Kind::sgd, nn::OptimizerSpec::Kind::adam})
      for (const bool classify : {false, true}) train(fingerprint, dtype, kind, classify);
  return fingerprint.value();
}

}  // namespace pdsim::fingerprints
