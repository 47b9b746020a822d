// Module: layers with named parameters and buffers, run along named paths; the toy models of scenarios and of the
// oracle.
//
//   names     `layer.weight`, `layer.bias`, `layer.running_mean`, `layer.running_var`, `layer.num_batches_tracked`
//   linear    weight [out, in], bias [out], y = x W^T + b; init U(-1/sqrt(in), 1/sqrt(in)) from the given Random
//   batchnorm weight 1, bias 0, running_mean 0, running_var 1, momentum 0.1, eps 1e-5, unbiased variance into
//   running_var;
//             training forward saves running_mean and running_var, as PyTorch's does (their versions are checked in
//             backward)
//   order     parameters() and buffers() in definition order of the layers, each layer's own in the order above
#pragma once

#include "core/base/random.h"
#include "core/nn/autograd.h"
#include "core/nn/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::nn {

enum class LayerKind : std::uint8_t { linear, batchnorm, relu };

struct LayerSpec {
  std::string name;
  LayerKind kind = LayerKind::linear;
  std::int64_t in = 0;   // linear; batchnorm: features
  std::int64_t out = 0;  // linear
};

struct PathSpec {
  std::string name;
  std::vector<std::string> layers;  // a layer may appear more than once
};

struct ModuleSpec {
  std::vector<LayerSpec> layers;
  std::vector<PathSpec> paths;  // empty: one path `full` through all layers; the first is the default
  DType dtype = DType::f32;
};

struct ForwardMode {
  bool training = true;  // module.train() or module.eval()
  bool grad = true;      // torch.enable_grad() or no_grad()
};

// What happened to tensors during a forward, for the flight recorder.
struct TensorEvent {
  bool saved = false;  // else written in place
  std::string tensor;
  std::uint32_t version = 0;
  std::string by;
};
using TensorWatcher = std::function<void(const TensorEvent&)>;

class Layer;

class Module {
 public:
  Module(const ModuleSpec& spec, Random random);
  ~Module();
  const ModuleSpec& spec() const { return spec_; }
  std::vector<Tensor>& parameters() { return parameters_; }  // named; handles to shared storage
  std::vector<Tensor>& buffers() { return buffers_; }
  Result<Tensor> forward(const Tensor& input, std::string_view path, ForwardMode mode, const TensorWatcher& watch = {});
  // `batch` rows of the width the path's first linear layer takes.
  std::int64_t input_width(std::string_view path) const;
  std::int64_t output_width(std::string_view path) const;
  std::size_t layer_count(std::string_view path) const;

 private:
  ModuleSpec spec_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> buffers_;
};

}  // namespace pdsim::nn
