// `model` and `ddp` of a document whose shape is right.
#include "scenarios/language/build.h"
#include "scenarios/language/costs.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/sections.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::language {
namespace {

std::size_t row_named(std::span<const Key> rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [name](const Key& key) { return key.name == name; });
  return static_cast<std::size_t>(found - rows.begin());
}

// Products of sizes that the file may name stay far below what an integer holds.
void read_images(const Node& options, nn::LayerSpec& layer) {
  read(options, "channels", layer.channels);
  read(options, "height", layer.height);
  read(options, "width", layer.width);
  layer.in = layer.out = layer.channels * layer.height * layer.width;
  if (layer.kind != nn::LayerKind::conv2d) return;
  read(options, "filters", layer.filters);
  read(options, "kernel", layer.kernel);
  read(options, "stride", layer.stride);
  read(options, "padding", layer.padding);
  const auto side = [&layer](std::int64_t size) {
    const std::int64_t room = size + 2 * layer.padding - layer.kernel;
    return room < 0 || layer.stride < 1 ? 0 : room / layer.stride + 1;
  };
  layer.out = layer.filters * side(layer.height) * side(layer.width);
}

void read_sizes(const Node& value, nn::LayerSpec& layer) {
  if (layer.kind == nn::LayerKind::meta) {
    layer.shapes = read_shapes(value).value_or(layer.shapes);
    return;
  }
  if (value.is_scalar()) layer.in = layer.out = read_integer(value.text).value_or(1);
  if (value.is_list() && value.items.size() == 2) {
    layer.in = read_integer(value.items[0].text).value_or(1);
    layer.out = read_integer(value.items[1].text).value_or(1);
  }
  if (layer.kind == nn::LayerKind::dropout) {
    layer.in = layer.out = 0;
    layer.probability = value.is_scalar() ? read_decimal(value.text).value_or(layer.probability) : layer.probability;
  }
  if (layer.kind == nn::LayerKind::embedding) {
    std::int64_t columns = 1;
    layer.in = 1;
    read(value, "rows", layer.rows);
    read(value, "columns", columns);
    read(value, "indices", layer.in);
    layer.out = layer.in * columns;
  }
  if (layer.kind == nn::LayerKind::conv2d || layer.kind == nn::LayerKind::batchnorm2d) read_images(value, layer);
}

nn::LayerSpec build_layer(const Entry& entry) {
  nn::LayerSpec layer;
  layer.name = entry.key;
  std::string kind = entry.value.text;
  Node value;
  if (const auto [row, key] = chosen(entry.value, layer_kinds()); row != nullptr) {
    kind = row->key;
    value = row->value;
  }
  if (const std::size_t row = row_named(layer_kinds(), kind); row < layer_kinds().size())
    layer.kind = static_cast<nn::LayerKind>(row);
  std::string dtype;
  read(entry.value, "dtype", dtype);
  layer.dtype = dtype_named(dtype);
  read(entry.value, "frozen", layer.frozen);
  read(entry.value, "device", layer.device);
  read(entry.value, "compute", layer.forward_time);
  read(entry.value, "backward", layer.backward_time);
  read_sizes(value, layer);
  if (layer.kind == nn::LayerKind::meta) read(entry.value, "gives", layer.out);
  return layer;
}

Flops flops_of(const nn::LayerSpec& layer, std::int64_t batch) {
  if (nn::keeps_any_width(layer.kind)) return {};
  const double flops = 2.0 * nn::products_per_row(layer) * static_cast<double>(batch);
  return {flops < 1e18 ? static_cast<std::int64_t>(flops) : std::int64_t{1'000'000'000'000'000'000}};
}

// The times that `compute`, `backward`, `flops`, `traffic` and the speeds of the device come to; none for a toy that says nothing.
void set_times(const Node* node, const Scenario& scenario, nn::LayerSpec& layer) {
  const std::optional<FlopRate>& speed = scenario.world.device_speed;
  const bool meta = layer.kind == nn::LayerKind::meta;
  if (!layer.forward_time && speed) {
    Flops flops = flops_of(layer, scenario.batch);
    if (node != nullptr) read(*node, "flops", flops);
    layer.forward_time = working_time(flops, *speed);
  }
  const std::optional<Rate>& memory = scenario.world.memory_speed;
  if (node != nullptr && node->find("traffic") != nullptr && memory) {
    Bytes traffic{};
    read(*node, "traffic", traffic);
    layer.forward_time = layer.forward_time.value_or(Time{}) + transfer_time(traffic, *memory);
  }
  if (!layer.forward_time &&
      (meta || layer.backward_time || scenario.data_parallel || nn::devices_of(scenario.model.spec) > 1))
    layer.forward_time = meta ? Time{} : costs::forward_per_layer;
  if (layer.forward_time && !layer.backward_time) layer.backward_time = *layer.forward_time * 2;
}

void build_comm_hook(const Node& ddp, CommHookSpec& spec) {
  const Node* node = ddp.find("comm_hook");
  if (node == nullptr) return;
  const auto [entry, key] = chosen(*node, hook_kinds());
  const std::size_t row = row_named(hook_kinds(), entry != nullptr ? std::string_view(entry->key) : node->text);
  if (row < comm_hook_table.size()) spec.kind = comm_hook_table[row].kind;
  if (entry == nullptr) return;
  read_bound(entry->value, powersgd_options(), &spec);
}

}  // namespace

void build_model(const Node& document, Model& model) {
  const Entry* entry = entry_of(document, "model");
  if (entry == nullptr) return;
  model.given = true;
  model.mark = entry->mark;
  const Node& map = section(document, "model");
  std::string dtype(name_of(model.spec.dtype));
  read(map, "dtype", dtype);
  model.spec.dtype = dtype_named(dtype).value_or(model.spec.dtype);
  std::string noise;
  read(map, "noise", noise);
  model.same_noise = noise == "same";
  std::string initial;
  read(map, "initial_values", initial);
  model.same_initial_values = initial == "same";
  if (const Node* again = map.find("recompute"); again != nullptr)
    for (const Node& layer : again->items) model.spec.recompute.push_back(layer.text);
  for (const Entry& layer : section(map, "layers").entries) model.spec.layers.push_back(build_layer(layer));
  for (const Entry& path : section(map, "paths").entries) {
    nn::PathSpec spec{path.key, {}};
    for (const Node& layer : path.value.items) spec.layers.push_back(layer.text);
    model.spec.paths.push_back(std::move(spec));
  }
  for (const Entry& part : section(map, "parts").entries) {
    ModelPart spec{part.key, {}};
    for (const Node& layer : part.value.items) spec.layers.push_back(layer.text);
    model.parts.push_back(std::move(spec));
  }
  if (const Node* per_rank = map.find("per_rank"); per_rank != nullptr)
    for (const Node& item : per_rank->items) {
      ModelChange change;
      change.mark = item.mark;
      if (const Node* when = item.find("when")) change.when = build_when(*when);
      for (const Entry& layer : section(item, "layers").entries) change.layers.push_back(build_layer(layer));
      if (const Node* order = item.find("order"))
        for (const Node& layer : order->items) change.order.push_back(layer.text);
      model.per_rank.push_back(std::move(change));
    }
  if (const Node* branches = map.find("branches"); branches != nullptr) {
    for (const Node& item : branches->items) {
      Branch branch;
      read(item, "path", branch.path);
      if (const Node* when = item.find("when")) branch.when = build_when(*when);
      model.branches.push_back(std::move(branch));
    }
  }
}

void set_layer_times(const Node& document, Scenario& scenario) {
  const Node& map = section(document, "model");
  for (nn::LayerSpec& layer : scenario.model.spec.layers)
    set_times(section(map, "layers").find(layer.name), scenario, layer);
  const Node* per_rank = map.find("per_rank");
  for (std::size_t i = 0; i < scenario.model.per_rank.size(); ++i)
    for (nn::LayerSpec& layer : scenario.model.per_rank[i].layers)
      set_times(section(per_rank->items[i], "layers").find(layer.name), scenario, layer);
}

void build_ddp(const Node& document, Ddp& ddp) {
  const Entry* entry = entry_of(document, "ddp");
  if (entry == nullptr) return;
  ddp.mark = span_of(*entry);
  ddp.wrap = !entry->value.is_scalar();
  const Node& map = section(document, "ddp");
  read(map, "ranks", ddp.ranks);
  read(map, "group", ddp.group);
  for (const Entry& option : map.entries) ddp.given[option.key] = span_of(option);
  read_bound(map, ddp_options(), &ddp.options);
  build_comm_hook(map, ddp.options.comm_hook);
}

}  // namespace pdsim::scenarios::language
