#include "core/sharded/fully_sharded.h"

#include "core/parallel/coalesced.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pdsim {

// Behind a unit's output: tells of its gradient, and passes it on.
class FullyShardedDataParallel::Arrival final : public nn::Node {
 public:
  Arrival(std::weak_ptr<FullyShardedDataParallel> model, std::size_t place)
      : Node("ShardedUnitBackward"), model_(std::move(model)), place_(place) {}

  Result<std::vector<nn::Tensor>> backward(const nn::Tensor& grad) override {
    if (const auto model = model_.lock()) PDSIM_TRY(model->gradient_arrived(place_));
    return std::vector{grad};
  }

 private:
  std::weak_ptr<FullyShardedDataParallel> model_;
  std::size_t place_;
};

FullyShardedDataParallel::FullyShardedDataParallel(nn::Module& module, ProcessGroup& group, ShardedOptions options)
    : module_(module), group_(group), options_(std::move(options)) {}

Result<std::shared_ptr<FullyShardedDataParallel>> FullyShardedDataParallel::wrap(nn::Module& module,
                                                                                 ProcessGroup& group,
                                                                                 const ShardedOptions& options) {
  if (nn::devices_of(module.spec()) > 1)
    return Error{Code::invalid_argument, "a sharded model computes on one device of each rank", {}};
  std::shared_ptr<FullyShardedDataParallel> model(new FullyShardedDataParallel(module, group, options));
  if (options.sync_module_states) {
    std::vector<nn::Tensor> state = module.parameters();
    state.insert(state.end(), module.buffers().begin(), module.buffers().end());
    CoalescedOptions how;
    how.purpose = PurposeKind::parameters;
    PDSIM_TRY(broadcast_coalesced(group, state, how));
  }
  PDSIM_TRY(model->make_units());
  model->watch_gradients();
  model->look_at_memory();
  return model;
}

Status FullyShardedDataParallel::make_units() {
  const std::size_t units = options_.units.size();
  for (const nn::LayerSpec& layer : module_.spec().layers) {
    std::size_t found = units;
    for (std::size_t u = 0; u < units; ++u) {
      const auto& layers = options_.units[u].layers;
      if (std::find(layers.begin(), layers.end(), layer.name) == layers.end()) continue;
      if (found != units)
        return Error{Code::invalid_argument,
                     fmt::format("layer {} is in unit {} and in unit {}", layer.name, options_.units[found].name,
                                 options_.units[u].name),
                     {{"layer", layer.name}}};
      found = u;
    }
    unit_of_layer_.push_back(found);
  }
  notes::UnitsSharded note;
  for (std::size_t u = 0; u <= units; ++u) {
    std::vector<nn::Tensor> parameters;
    for (const nn::Tensor& p : module_.parameters())
      if (place_of(p.name().substr(0, p.name().find('.'))) == u) parameters.push_back(p);
    const std::string name = u < units ? options_.units[u].name : "root";
    Result<std::unique_ptr<ShardedUnit>> unit = ShardedUnit::make(name, std::move(parameters), group_, options_.stage);
    if (!unit.ok()) return unit.error();
    const std::size_t count = (*unit)->parameters().size();
    places_.push_back({std::move(*unit), std::vector<bool>(count), std::vector<bool>(count)});
    if (count > 0) note.units.push_back(name);
  }
  const Site site = group_.recorder().site();
  note.stage = options_.stage;
  note.line = site.line;
  note.column = site.column;
  group_.recorder().note(std::move(note));
  return {};
}

void FullyShardedDataParallel::watch_gradients() {
  const std::weak_ptr<FullyShardedDataParallel> weak = weak_from_this();
  for (std::size_t place = 0; place < places_.size(); ++place)
    for (std::size_t i = 0; i < places_[place].fired.size(); ++i)
      nn::register_post_accumulate_hook(places_[place].unit->parameters()[i], [weak, place, i](nn::Tensor&) -> Status {
        const auto model = weak.lock();
        return model != nullptr ? model->gradient_ready(place, i) : Status{};
      });
}

std::size_t FullyShardedDataParallel::place_of(const std::string& layer) const {
  const auto& layers = module_.spec().layers;
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const auto& l) { return l.name == layer; });
  return unit_of_layer_[static_cast<std::size_t>(found - layers.begin())];
}

Result<nn::Tensor> FullyShardedDataParallel::forward(const nn::Tensor& input, std::string_view path,
                                                     nn::ForwardMode mode, const nn::TensorWatcher& watch) {
  const nn::PathSpec* way = module_.path_named(path);
  if (way == nullptr) return module_.forward(input, path, mode, watch);  // which says so
  if (mode.grad && std::exchange(new_iteration_, false))
    for (Place& p : places_) p.reached.assign(p.reached.size(), false);
  last_order_ = std::exchange(order_, {});
  PDSIM_TRY(enter(root()));
  nn::Tensor at = input;
  const std::span<const std::string> layers = way->layers;
  for (std::size_t from = 0, to = 0; from < layers.size(); from = to) {
    const std::size_t place = place_of(layers[from]);
    while (to < layers.size() && place_of(layers[to]) == place) ++to;
    Result<nn::Tensor> output = forward_in(place, layers.subspan(from, to - from), at, mode, watch);
    if (!output.ok()) return output;
    at = std::move(output).value();
  }
  if (mode.grad) at = announce(root(), at);
  return at;
}

Result<nn::Tensor> FullyShardedDataParallel::forward_in(std::size_t place, std::span<const std::string> layers,
                                                        const nn::Tensor& at, nn::ForwardMode mode,
                                                        const nn::TensorWatcher& watch) {
  Place& p = places_[place];
  if (place != root()) {
    order_.push_back(place);
    PDSIM_TRY(enter(place));
  }
  for (std::size_t i = 0; mode.grad && i < p.reached.size(); ++i) {
    const std::string& name = p.unit->parameters()[i].name();
    p.reached[i] =
        p.reached[i] || std::find(layers.begin(), layers.end(), name.substr(0, name.find('.'))) != layers.end();
  }
  Result<nn::Tensor> output = module_.forward_through(layers, at, mode, watch);
  if (!output.ok() || place == root()) return output;
  if (options_.reshard_after_forward) PDSIM_TRY(p.unit->release());
  return mode.grad ? announce(place, *output) : *output;
}

// Gathers the unit, and with forward_prefetch the one behind it in the forward before.
Status FullyShardedDataParallel::enter(std::size_t place) {
  ShardedUnit& unit = *places_[place].unit;
  PDSIM_TRY(unit.start_gather());
  if (options_.forward_prefetch && !last_order_.empty()) {
    const auto here = std::find(last_order_.begin(), last_order_.end(), place);
    const auto next = place == root() ? last_order_.begin() : here == last_order_.end() ? here : here + 1;
    if (next != last_order_.end()) PDSIM_TRY(places_[*next].unit->start_gather());
  }
  look_at_memory();
  return unit.finish_gather();
}

nn::Tensor FullyShardedDataParallel::announce(std::size_t place, const nn::Tensor& output) {
  if (!nn::tracked({output})) return output;
  nn::Tensor passed = output.detach();
  nn::record(std::make_shared<Arrival>(weak_from_this(), place), {output}, passed);
  return passed;
}

Status FullyShardedDataParallel::gradient_arrived(std::size_t place) {
  if (pass_ == nullptr)
    return Error{Code::autograd_misuse,
                 "the loss of a sharded model ran backward without its wrapper; call the wrapper's backward",
                 {}};
  Place& p = places_[place];
  if (!std::exchange(p.in_backward, true)) {
    p.fired.assign(p.fired.size(), false);
    p.reduced = false;
  }
  PDSIM_TRY(p.unit->start_gather());
  if (options_.backward_prefetch == BackwardPrefetch::pre) PDSIM_TRY(prefetch_before(place));
  look_at_memory();
  return p.unit->finish_gather();
}

// The unit that ran before this one in the forward, whose backward comes next.
Status FullyShardedDataParallel::prefetch_before(std::size_t place) {
  if (order_.empty()) return {};
  if (place == root()) return places_[order_.back()].unit->start_gather();
  const auto here = std::find(order_.rbegin(), order_.rend(), place);
  if (here == order_.rend() || here + 1 == order_.rend()) return {};
  return places_[*(here + 1)].unit->start_gather();
}

bool FullyShardedDataParallel::all_fired(const Place& p) const {
  for (std::size_t i = 0; i < p.reached.size(); ++i)
    if (p.reached[i] && !p.fired[i]) return false;
  return true;
}

Status FullyShardedDataParallel::gradient_ready(std::size_t place, std::size_t parameter) {
  Place& p = places_[place];
  if (pass_ == nullptr || !p.in_backward) return {};
  p.fired[parameter] = true;
  return all_fired(p) && !p.reduced ? backward_done(place) : Status{};
}

Status FullyShardedDataParallel::backward_done(std::size_t place) {
  Place& p = places_[place];
  p.reduced = true;
  PDSIM_TRY(p.unit->release());
  if (options_.backward_prefetch == BackwardPrefetch::post && place != root()) PDSIM_TRY(prefetch_before(place));
  if (!synchronises_) {
    local_ = true;
    return {};
  }
  return options_.stage == 1 ? Status{} : p.unit->start_reduce();
}

Status FullyShardedDataParallel::backward(std::span<const nn::Tensor> losses) {
  nn::BackwardPass pass;
  pass_ = &pass;
  pass.queue_callback([this] { return finish_backward(); });
  const Status status = pass.run(losses);
  pass_ = nullptr;
  return status;
}

Status FullyShardedDataParallel::finish_backward() {
  std::vector<std::size_t> behind;  // as backward ran through them, the root last
  for (auto place = order_.rbegin(); place != order_.rend(); ++place)
    if (std::find(behind.begin(), behind.end(), *place) == behind.end()) behind.push_back(*place);
  behind.push_back(root());
  for (const std::size_t place : behind)
    if (places_[place].in_backward && !places_[place].reduced) PDSIM_TRY(backward_done(place));
  if (synchronises_) {
    for (const std::size_t place : behind)
      if (options_.stage == 1 && places_[place].in_backward) PDSIM_TRY(places_[place].unit->start_reduce());
    for (const std::size_t place : behind) PDSIM_TRY(places_[place].unit->finish_reduce());
    local_ = false;
  }
  for (Place& p : places_) {
    PDSIM_TRY(p.unit->release());
    p.in_backward = false;
  }
  new_iteration_ = true;
  return {};
}

std::vector<nn::Tensor> FullyShardedDataParallel::shards() const {
  std::vector<nn::Tensor> shards;
  for (const Place& p : places_)
    if (p.unit->trained()) shards.push_back(p.unit->shard());
  return shards;
}

void FullyShardedDataParallel::zero_grad() {
  for (Place& p : places_) {
    p.unit->drop_gradient();
    if (!p.unit->empty()) p.unit->shard().set_grad({});
    for (nn::Tensor& parameter : p.unit->parameters()) parameter.set_grad({});
  }
  local_ = false;
}

Status FullyShardedDataParallel::step_done() {
  if (options_.stage == 3) return {};
  for (Place& p : places_)
    if (p.unit->trained()) PDSIM_TRY(p.unit->start_exchange_of_shards());
  for (Place& p : places_) PDSIM_TRY(p.unit->finish_gather());
  return {};
}

Status FullyShardedDataParallel::gather() {
  for (Place& p : places_) PDSIM_TRY(p.unit->start_gather());
  for (Place& p : places_) PDSIM_TRY(p.unit->finish_gather());
  look_at_memory();
  return {};
}

Status FullyShardedDataParallel::release() {
  for (Place& p : places_) PDSIM_TRY(p.unit->release());
  return {};
}

void FullyShardedDataParallel::take_shards() {
  for (Place& p : places_) p.unit->take_shard();
}

ShardedMemory FullyShardedDataParallel::memory() const {
  ShardedMemory held;
  for (const Place& p : places_) {
    held.parameters += p.unit->parameter_bytes();
    held.gradients += p.unit->gradient_bytes();
  }
  held.most_parameters = most_parameters_;
  return held;
}

void FullyShardedDataParallel::look_at_memory() {
  std::int64_t now = 0;
  for (const Place& p : places_) now += p.unit->parameter_bytes();
  most_parameters_ = std::max(most_parameters_, now);
}

}  // namespace pdsim
