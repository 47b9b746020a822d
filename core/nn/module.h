// Module: layers with named parameters and buffers, run along named paths; the toy models of scenarios and of the recordings from
// PyTorch.
//
//   names     `layer.weight`, `layer.bias`, `layer.running_mean`, `layer.running_var`, `layer.num_batches_tracked`
//   linear    weight [out, in], bias [out], y = x W^T + b; init U(-1/sqrt(in), 1/sqrt(in)) from the given Random, each
//             parameter from the stream of its own name; saves its input where weight requires a gradient, and weight
//             where the input does
//   batchnorm weight 1, bias 0, running_mean 0, running_var 1, momentum 0.1, eps 1e-5, unbiased variance into
//             running_var, num_batches_tracked (i64); a forward with gradients saves input, running_mean, running_var
//             and weight, as PyTorch's does, and so backward checks their versions; the training forward itself moves
//             the running statistics without raising their versions
//   embedding weight [rows, columns of one], init U(-1, 1) where PyTorch draws from a normal distribution; its input holds
//   indices
//   conv2d    weight [filters, channels, kernel, kernel], bias [filters], init U(-b, b), b = 1/sqrt(channels kernel^2);
//             an image is a row, channel by channel, line by line
//   others    batchnorm2d: one feature per channel. layernorm: over each row. sync_batchnorm: batchnorm over the rows of
//             all ranks. dropout: masks from the noise, another one in every forward
//   meta      weights p0, p1, ... of the given shapes, of any dtype and without values (Tensor::meta), whose gradients become
//             ready together, the last first; its output is its input, or with `out` rows of that many elements without values.
//             It stands for a layer of which only the size matters
//   cost      a layer's time is charged to the clock: its forward's before it, its backward's (and, recomputed, its second
//             forward's) before its gradients become ready; also for layers without parameters. With `timed_rows` the
//             times hold for that many rows, and an input with more or fewer costs in proportion
//   devices   a layer computes on its device; between layers of two devices the activation is copied, and its gradient back,
//             in the time that the copier returns. The input is on device 0, or comes from the host to wherever it is needed
//   dtypes    a layer may have its own; its input is cast to it, and the gradient is cast back
//   recompute layers that PyTorch's reentrant checkpoint() runs: forward keeps their input only, and backward runs them
//             again, with a backward of its own for each. No gradient reaches them where their input needs none
//   order     parameters() and buffers() in definition order of the layers, each layer's own in the order above
//   sums      over ascending indices in f64, rounded once to the module's dtype: the same bits from every compiler
//   errors    invalid_argument for an unknown path, shape_mismatch for an input of another width or dtype, or of one
//             row where batch-norm trains; autograd_misuse where a parameter's storage is free
#pragma once

#include "core/base/quantity.h"
#include "core/base/random.h"
#include "core/nn/autograd.h"
#include "core/nn/tensor.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::nn {

enum class LayerKind : std::uint8_t {
  linear,
  batchnorm,
  relu,
  embedding,
  conv2d,
  batchnorm2d,
  layernorm,
  sync_batchnorm,
  dropout,
  meta,
};

// How tensor parallelism splits a linear layer over the ranks of a group: by output columns (whole input, partial output), or by
// input columns (partial input; the whole output is the sum over the ranks). Named after ColwiseParallel and RowwiseParallel.
enum class TensorSplit : std::uint8_t { none, colwise, rowwise };

struct LayerSpec {
  std::string name;
  LayerKind kind = LayerKind::linear;
  std::int64_t in = 0;                               // input columns; relu and dropout: any number
  std::int64_t out = 0;                              // output columns; where the width is kept, the same or 0; see meta
  std::int64_t rows = 0;                             // embedding: of the table
  std::int64_t channels = 0, height = 0, width = 0;  // conv2d, batchnorm2d: of their input images
  std::int64_t filters = 0, kernel = 1, stride = 1, padding = 0;  // conv2d
  double probability = 0.5;                                       // dropout
  std::optional<DType> dtype{};                                   // default: the module's
  bool frozen = false;                                            // its parameters require no gradient
  std::vector<Shape> shapes{};                                    // meta: of its parameters
  int device = 0;                                                 // of the rank, where it computes
  std::optional<Time> forward_time{}, backward_time{};            // charged to the clock; both or none
  TensorSplit split = TensorSplit::none;  // linear: of `in` or `out`, which are those of the whole layer
  int split_rank = 0, split_ranks = 1;    // the part on this rank
};

// Whether the layer accepts an input of any width and keeps it.
constexpr bool keeps_any_width(LayerKind kind) {
  return kind == LayerKind::relu || kind == LayerKind::dropout || kind == LayerKind::meta;
}
constexpr bool has_buffers(LayerKind kind) {
  return kind == LayerKind::batchnorm || kind == LayerKind::batchnorm2d || kind == LayerKind::sync_batchnorm;
}
// Elements of parameters and buffers together, including those without values; multiplications for one row of a forward.
std::int64_t stored_elements(const LayerSpec& layer);
double products_per_row(const LayerSpec& layer);

struct PathSpec {
  std::string name;
  std::vector<std::string> layers;  // a layer may appear more than once
};

struct ModuleSpec {
  std::vector<LayerSpec> layers;
  std::vector<PathSpec> paths;  // empty: one path `full` through all layers; the first is the default, and "" means it
  DType dtype = DType::f32;
  std::vector<std::string> recompute{};  // layers
  bool sizes_have_memory = false;        // meta layers: allocates zeros for them, for worlds that move bytes
  std::int64_t timed_rows = 0;           // rows of the input that the layers' times are for; 0: they hold for any input
};
// The number of devices that the layers name, at least one.
int devices_of(const ModuleSpec& spec);

struct ForwardMode {
  bool training = true;  // module.train() or module.eval()
  bool grad = true;      // torch.enable_grad() or no_grad()
};

// An event of a named tensor during a forward, for the flight recorder: saved for backward, or written with a new version.
struct TensorEvent {
  bool saved = false;  // else written in place
  std::string tensor;
  std::uint32_t version = 0;
  std::string by;
};
using TensorWatcher = std::function<void(const TensorEvent&)>;

// The exchange of sync_batchnorm with the other ranks.
struct RankExchange {
  std::function<Result<Tensor>(const Tensor& mine)> gather;  // from all ranks, in rank order; empty: there are no others
  std::function<Status(Tensor& sum)> sum;
};

class Layer;

class Module {
 public:
  Module(const ModuleSpec& spec, Random random);
  ~Module();
  const ModuleSpec& spec() const { return spec_; }           // with its paths filled in
  std::vector<Tensor>& parameters() { return parameters_; }  // named; handles to shared storage
  std::vector<Tensor>& buffers() { return buffers_; }
  Tensor find(std::string_view name) const;  // the parameter or buffer; undefined when there is none
  Result<Tensor> forward(const Tensor& input, std::string_view path, ForwardMode mode, const TensorWatcher& watch = {});
  // Runs a part of that forward: these layers in sequence, for wrappers that act between layers.
  Result<Tensor> forward_through(std::span<const std::string> layers, const Tensor& input, ForwardMode mode,
                                 const TensorWatcher& watch = {});
  // The path's layers in order; "" selects the default path; null when the path does not exist.
  const PathSpec* path_named(std::string_view path) const;
  // Creates a module whose parameters are differentiable copies of these: a gradient of the copy is one of the original. Its
  // buffers are this module's with `keeps_buffers`, otherwise copies.
  std::unique_ptr<Module> replica(bool keeps_buffers) const;
  // Bytes of all layers' outputs in the last forward.
  std::int64_t activation_bytes() const { return activation_bytes_; }
  void set_noise(Random noise);  // before the first forward; default: Random(0)
  void set_exchange(const RankExchange& ranks);
  // For split layers: sums over the ranks that have the parts. The tensor has the layer's name.
  void set_tensor_exchange(const RankExchange& ranks);
  // Sets the clock that is charged for layers with a cost; before the first forward. Default: none.
  void set_clock(std::function<void(Time)> clock) { clock_ = std::move(clock); }
  // Sets the time of a copy of that many bytes between devices; before the first forward. Default: no time.
  void set_copier(std::function<Time(std::int64_t bytes)> copier) { copier_ = std::move(copier); }
  // The cost of the layers in the last forward and its backward, and the bytes of their outputs, by device.
  const std::vector<Time>& device_times() const { return device_times_; }
  const std::vector<std::int64_t>& device_activations() const { return device_activations_; }
  // Rows of the table, where the path begins with an embedding, whose input holds indices; else 0.
  std::int64_t input_indices(std::string_view path) const;
  // Input columns of the path's first layer with a width and output columns of its last; 0 when it has none. The path must exist.
  std::int64_t input_width(std::string_view path) const;
  std::int64_t output_width(std::string_view path) const;
  std::size_t layer_count(std::string_view path) const;
  // The number of the path's layers without a time of their own.
  std::size_t untimed_layers(std::string_view path) const;

 private:
  std::size_t index_of(std::string_view layer) const;
  Result<Tensor> run_layer(std::size_t index, Tensor at, ForwardMode mode, const TensorWatcher& watch);
  Tensor moved(const Tensor& at, bool grad);
  std::function<void(Time)> clock_of(int device);

  ModuleSpec spec_;
  std::vector<std::unique_ptr<Layer>> layers_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> buffers_;
  std::function<void(Time)> clock_;
  std::function<Time(std::int64_t)> copier_;
  std::vector<Time> device_times_;
  std::vector<std::int64_t> device_activations_;
  std::int64_t activation_bytes_ = 0;
};

}  // namespace pdsim::nn
