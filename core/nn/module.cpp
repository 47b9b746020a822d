#include "core/nn/module.h"

#include "core/base/check.h"
#include "core/nn/layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace pdsim::nn {

namespace {

Tensor differentiable_copy(const Tensor& t) {
  Tensor copy = t.clone().set_name(t.name());
  const auto pass = [](const Tensor& grad, const std::vector<Tensor>&) { return std::vector<Tensor>{grad}; };
  if (t.requires_grad()) record(make_function("BroadcastBackward", {}, pass), {t}, copy);
  return copy;
}

}  // namespace

Module::Module(const ModuleSpec& spec, Random random) : spec_(spec) {
  if (spec_.paths.empty()) {
    PathSpec full{"full", {}};
    for (const LayerSpec& layer : spec_.layers) full.layers.push_back(layer.name);
    spec_.paths.push_back(std::move(full));
  }
  for (const PathSpec& path : spec_.paths)
    for (const std::string& layer : path.layers)
      PDSIM_CHECK(index_of(layer) < spec_.layers.size(), "a path runs through layers of the module");
  for (const LayerSpec& layer : spec_.layers) {
    layers_.push_back(Layer::make(layer, layer.dtype.value_or(spec_.dtype), random, spec_.sizes_have_memory));
    Layer& made = *layers_.back();
    if (layer.frozen)
      for (Tensor& p : made.parameters) p.set_requires_grad(false);
    for (Tensor& p : made.parameters) p.set_device(layer.device);
    for (Tensor& b : made.buffers) b.set_device(layer.device);
    parameters_.insert(parameters_.end(), made.parameters.begin(), made.parameters.end());
    buffers_.insert(buffers_.end(), made.buffers.begin(), made.buffers.end());
  }
  share_tape(parameters_);
  device_times_.resize(static_cast<std::size_t>(devices_of(spec_)));
  device_activations_.resize(device_times_.size());
}

Module::~Module() = default;

std::unique_ptr<Module> Module::replica(bool keeps_buffers) const {
  auto made = std::make_unique<Module>(spec_, Random(0));
  made->parameters_.clear();
  made->buffers_.clear();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = *made->layers_[i];
    for (std::size_t p = 0; p < layer.parameters.size(); ++p)
      layer.parameters[p] = differentiable_copy(layers_[i]->parameters[p]);
    for (std::size_t b = 0; b < layer.buffers.size(); ++b) {
      const Tensor& from = layers_[i]->buffers[b];
      layer.buffers[b] = keeps_buffers ? from : from.clone().set_name(from.name());
    }
    made->parameters_.insert(made->parameters_.end(), layer.parameters.begin(), layer.parameters.end());
    made->buffers_.insert(made->buffers_.end(), layer.buffers.begin(), layer.buffers.end());
  }
  return made;
}

void Module::set_noise(Random noise) {
  for (const auto& layer : layers_) layer->noise = noise;
}

void Module::set_exchange(const RankExchange& ranks) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (spec_.layers[i].split == TensorSplit::none) layers_[i]->ranks = ranks;
}

void Module::set_tensor_exchange(const RankExchange& ranks) {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (spec_.layers[i].split != TensorSplit::none) layers_[i]->ranks = ranks;
}

std::int64_t Module::input_indices(std::string_view path) const {
  const PathSpec* way = path_named(path);
  PDSIM_CHECK(way != nullptr, "the module has this path");
  const LayerSpec* first = way->layers.empty() ? nullptr : &spec_.layers[index_of(way->layers.front())];
  return first != nullptr && first->kind == LayerKind::embedding ? first->rows : 0;
}

namespace {

std::int64_t elements_of(const std::vector<Shape>& shapes) {
  std::int64_t total = 0;
  for (const Shape& shape : shapes) {
    std::int64_t elements = 1;
    for (const std::int64_t side : shape) elements *= side;
    total += elements;
  }
  return total;
}

}  // namespace

std::int64_t stored_elements(const LayerSpec& layer) {
  switch (layer.kind) {
    case LayerKind::linear:
      return layer.in * layer.out + layer.out;
    case LayerKind::embedding:
      return layer.rows * (layer.out / std::max<std::int64_t>(layer.in, 1));
    case LayerKind::conv2d:
      return layer.filters * (layer.channels * layer.kernel * layer.kernel + 1);
    case LayerKind::batchnorm:
    case LayerKind::sync_batchnorm:
      return 4 * layer.in + 1;
    case LayerKind::batchnorm2d:
      return 4 * layer.channels + 1;
    case LayerKind::layernorm:
      return 2 * layer.in;
    case LayerKind::meta:
      return elements_of(layer.shapes);
    case LayerKind::relu:
    case LayerKind::dropout:
      break;
  }
  return 0;
}

int devices_of(const ModuleSpec& spec) {
  int devices = 1;
  for (const LayerSpec& layer : spec.layers) devices = std::max(devices, layer.device + 1);
  return devices;
}

double products_per_row(const LayerSpec& layer) {
  const auto out = static_cast<double>(layer.out);
  if (layer.kind == LayerKind::linear) return static_cast<double>(layer.in) * out;
  if (layer.kind == LayerKind::conv2d) return out * static_cast<double>(layer.channels * layer.kernel * layer.kernel);
  return static_cast<double>(std::max<std::int64_t>(layer.in, 1));
}

std::size_t Module::index_of(std::string_view layer) const {
  const auto is_it = [layer](const LayerSpec& l) { return l.name == layer; };
  return static_cast<std::size_t>(std::find_if(spec_.layers.begin(), spec_.layers.end(), is_it) - spec_.layers.begin());
}

const PathSpec* Module::path_named(std::string_view path) const {
  if (path.empty()) return &spec_.paths.front();
  const auto is_it = [path](const PathSpec& p) { return p.name == path; };
  const auto it = std::find_if(spec_.paths.begin(), spec_.paths.end(), is_it);
  return it != spec_.paths.end() ? &*it : nullptr;
}

Tensor Module::find(std::string_view name) const {
  for (const std::vector<Tensor>* list : {&parameters_, &buffers_})
    for (const Tensor& t : *list)
      if (t.name() == name) return t;
  return {};
}

Result<Tensor> Module::forward(const Tensor& input, std::string_view path, ForwardMode mode,
                               const TensorWatcher& watch) {
  const PathSpec* way = path_named(path);
  if (way == nullptr) {
    std::vector<std::string> names;
    for (const PathSpec& p : spec_.paths) names.push_back(p.name);
    return Error{Code::invalid_argument,
                 fmt::format("the module has no path {}; its paths are {}", path, fmt::join(names, ", ")),
                 {{"path", std::string(path)}}};
  }
  if (input.dtype() != spec_.dtype)
    return Error{
        Code::shape_mismatch,
        fmt::format("the module computes in {}, and its input is {}", name_of(spec_.dtype), name_of(input.dtype())),
        {}};
  activation_bytes_ = 0;
  device_times_.assign(device_times_.size(), {});
  device_activations_.assign(device_activations_.size(), 0);
  return forward_through(way->layers, input, mode, watch);
}

Result<Tensor> Module::forward_through(std::span<const std::string> layers, const Tensor& input, ForwardMode mode,
                                       const TensorWatcher& watch) {
  Tensor at = input;
  int device = layers.empty() ? 0 : spec_.layers[index_of(layers.front())].device;
  for (const std::string& layer : layers) {
    const int wanted = spec_.layers[index_of(layer)].device;
    if (std::exchange(device, wanted) != wanted) at = moved(at, mode.grad);
    Result<Tensor> out = run_layer(index_of(layer), at, mode, watch);
    if (!out.ok()) return out;
    at = std::move(out).value();
    activation_bytes_ += at.view().bytes();
    device_activations_[static_cast<std::size_t>(device)] += at.view().bytes();
  }
  return at;
}

// The same numbers on another device; their gradients take as long to come back.
Tensor Module::moved(const Tensor& at, bool grad) {
  if (!copier_ || !clock_) return at;
  const Time cost = copier_(at.view().bytes());
  clock_(cost);
  return grad ? timed(at, cost, clock_) : at;
}

std::function<void(Time)> Module::clock_of(int device) {
  return [this, device](Time cost) {
    device_times_[static_cast<std::size_t>(device)] += cost;
    clock_(cost);
  };
}

Result<Tensor> Module::run_layer(std::size_t index, Tensor at, ForwardMode mode, const TensorWatcher& watch) {
  const LayerSpec& spec = spec_.layers[index];
  Layer& here = *layers_[index];
  for (const Tensor& p : here.parameters)
    if (p.has_values() && !p.has_memory())
      return Error{Code::autograd_misuse,
                   fmt::format("the storage of {} is free: a wrapper holds a shard of it between forwards; call the "
                               "wrapper's forward, not the module's",
                               p.name()),
                   {{"parameter", p.name()}}};
  const std::vector<std::string>& again = spec_.recompute;
  const bool recompute = mode.grad && std::find(again.begin(), again.end(), spec.name) != again.end();
  if (spec.kind != LayerKind::meta) at = cast(at, spec.dtype.value_or(spec_.dtype), mode.grad);
  const bool told = spec.forward_time.has_value() && clock_;
  const std::function<void(Time)> clock = told ? clock_of(spec.device) : nullptr;
  const auto share = [rows = at.shape().empty() ? 1 : at.shape()[0], of = spec_.timed_rows](Time time) {
    if (of == 0 || rows == of) return time;
    return Time{static_cast<std::int64_t>(static_cast<double>(time.ps) * static_cast<double>(rows) /
                                          static_cast<double>(of))};
  };
  if (told) clock(share(*spec.forward_time));
  Result<Tensor> out = recompute ? recomputed(here, at, mode, watch) : here.forward(at, mode, watch);
  if (!out.ok() || !told || !mode.grad) return out;
  return timed(*out, share(*spec.backward_time + (recompute ? *spec.forward_time : Time{})), clock);
}

std::int64_t Module::input_width(std::string_view path) const {
  const PathSpec* way = path_named(path);
  PDSIM_CHECK(way != nullptr, "the module has this path");
  for (const std::string& layer : way->layers)
    if (const LayerSpec& l = spec_.layers[index_of(layer)]; !keeps_any_width(l.kind)) return l.in;
  return 0;
}

std::int64_t Module::output_width(std::string_view path) const {
  const PathSpec* way = path_named(path);
  PDSIM_CHECK(way != nullptr, "the module has this path");
  for (auto it = way->layers.rbegin(); it != way->layers.rend(); ++it) {
    const LayerSpec& l = spec_.layers[index_of(*it)];
    if (!keeps_any_width(l.kind)) return l.out > 0 ? l.out : l.in;
  }
  return 0;
}

std::size_t Module::layer_count(std::string_view path) const {
  const PathSpec* way = path_named(path);
  PDSIM_CHECK(way != nullptr, "the module has this path");
  return way->layers.size();
}

std::size_t Module::untimed_layers(std::string_view path) const {
  const PathSpec* way = path_named(path);
  PDSIM_CHECK(way != nullptr, "the module has this path");
  return static_cast<std::size_t>(std::count_if(
      way->layers.begin(), way->layers.end(),
      [this](const std::string& layer) { return !spec_.layers[index_of(layer)].forward_time.has_value(); }));
}

}  // namespace pdsim::nn
