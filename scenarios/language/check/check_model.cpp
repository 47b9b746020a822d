#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/operations_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

const nn::LayerSpec* layer_named(const Scenario& s, std::string_view name) {
  for (const nn::LayerSpec& layer : s.model.spec.layers)
    if (layer.name == name) return &layer;
  return nullptr;
}

// Meta layers alone take and give a column.
bool gives_a_loss(const nn::LayerSpec& layer) {
  return !nn::keeps_any_width(layer.kind) || layer.kind == nn::LayerKind::meta;
}

std::vector<std::string_view> layer_names(const Scenario& s) {
  std::vector<std::string_view> names;
  for (const nn::LayerSpec& layer : s.model.spec.layers) names.push_back(layer.name);
  return names;
}

// One layer after another: what the next takes must be what the last gives.
class Widths {
 public:
  Widths(std::string path, Problems& problems) : path_(std::move(path)), problems_(problems) {}
  void next(const nn::LayerSpec& layer, const Mark& mark) {
    if (nn::keeps_any_width(layer.kind)) return;
    if (width_ > 0 && layer.in != width_)
      problems_.error(mark,
                      fmt::format("`{}` takes {} features, but `{}` gives {} in path `{}`", layer.name, layer.in,
                                  before_, width_, path_),
                      "widths must fit along a path");
    width_ = layer.out;
    before_ = layer.name;
  }

 private:
  std::string path_;
  Problems& problems_;
  std::int64_t width_ = 0;
  std::string before_;
};

void check_path(const Entry& entry, const Scenario& s, Problems& problems) {
  Widths widths(entry.key, problems);
  bool linear = false;
  for (const Node& item : entry.value.items) {
    const nn::LayerSpec* layer = layer_named(s, item.text);
    if (layer == nullptr) {
      problems.error(item.mark, fmt::format("path `{}` names an unknown layer `{}`", entry.key, item.text),
                     suggestion(item.text, layer_names(s), "layers are"));
      return;
    }
    widths.next(*layer, item.mark);
    linear = linear || gives_a_loss(*layer);
  }
  if (!linear)
    problems.error(entry.mark, fmt::format("path `{}` has no width", entry.key),
                   "put a linear or a batchnorm layer into it");
}

// Sizes that follow from others, and a deprecated option.
void check_layers(const Node& model, const Scenario& s, Problems& problems) {
  const Node* layers = model.find("layers");
  if (layers == nullptr) return;
  for (const Entry& entry : layers->entries) {
    const nn::LayerSpec* layer = layer_named(s, entry.key);
    if (layer == nullptr || nn::keeps_any_width(layer->kind)) continue;
    if (layer->out < 1)
      problems.error(entry.mark, fmt::format("`{}` does not output an image", entry.key),
                     fmt::format("a kernel of {} does not fit into {} x {} with padding {}", layer->kernel,
                                 layer->height, layer->width, layer->padding));
    for (const std::int64_t width : {layer->in, layer->out})
      if (width > limits::width)
        return problems.error(entry.mark, fmt::format("`{}` is {} columns wide", entry.key, width),
                              fmt::format("the limit is {}", limits::width));
  }
  if (const Node* again = model.find("recompute"); again != nullptr)
    for (const Node& item : again->items)
      if (layer_named(s, item.text) == nullptr)
        problems.error(item.mark, fmt::format("`recompute` names an unknown layer `{}`", item.text),
                       suggestion(item.text, layer_names(s), "layers are"));
}

std::optional<Located<std::string>> part_of(const Operation& op) {
  if (const auto* clip = op.if_is<ClipOptions>()) return clip->part;
  if (const auto* saved = op.if_is<CheckpointOptions>()) return saved->part;
  const auto* loaded = op.if_is<LoadCheckpointOptions>();
  return loaded != nullptr ? loaded->part : std::nullopt;
}

// With several models an operation must say which one it means, and with one it must not.
void check_part(const Operation& op, const Scenario& s, Problems& problems) {
  std::vector<std::string_view> names;
  for (const ModelPart& part : s.model.parts) names.push_back(part.name);
  const std::optional<Located<std::string>> given = part_of(op);
  if (!given) {
    if (names.empty()) return;
    return problems.error(op.mark, fmt::format("`{}` without a part", op.name),
                          fmt::format("with several models, name one: `part: {}`", fmt::join(names, "` or `part: ")));
  }
  const Located<std::string>& part = *given;
  if (names.empty())
    problems.error(part.mark, fmt::format("`part` of `{}` in a file with one model", op.name),
                   "`parts` of the model defines several");
  else if (std::find(names.begin(), names.end(), *part) == names.end())
    problems.error(part.mark, fmt::format("the model has no part `{}`", *part),
                   suggestion(*part, names, "parts are"));
}

void check_part_users(const std::vector<Operation>& program, const Scenario& s, Problems& problems) {
  for (const Operation& op : program) {
    if (const Key* row = find(operation_table(), op.name); row != nullptr && find(row->group->keys, "part") != nullptr)
      check_part(op, s, problems);
    if (op.name == "join" && !s.model.parts.empty())
      problems.error(op.mark, "`join` beside `parts`", "it works with one model only");
    check_part_users(op.body, s, problems);
  }
}

// Every layer is in one part, and every path stays in one.
void check_parts(const Node& model, const Scenario& s, Problems& problems) {
  const Entry* parts = entry_of(model, "parts");
  if (parts == nullptr) return;
  const auto parts_with = [&s](const std::string& layer) {
    return std::count_if(s.model.parts.begin(), s.model.parts.end(), [&](const ModelPart& p) { return p.has(layer); });
  };
  for (const nn::LayerSpec& layer : s.model.spec.layers)
    if (parts_with(layer.name) != 1)
      return problems.error(parts->mark, fmt::format("layer `{}` is in {} parts", layer.name, parts_with(layer.name)),
                            "every layer of the model must be in exactly one");
  for (const Entry& part : parts->value.entries)
    for (const Node& item : part.value.items)
      if (layer_named(s, item.text) == nullptr)
        return problems.error(item.mark, fmt::format("part `{}` names an unknown layer `{}`", part.key, item.text),
                              suggestion(item.text, layer_names(s), "layers are"));
  for (const ModelPart& part : s.model.parts)
    if (std::none_of(s.model.spec.paths.begin(), s.model.spec.paths.end(),
                     [&](const nn::PathSpec& p) { return part.has(p.layers.front()); }))
      return problems.error(parts->mark, fmt::format("no path goes through part `{}`", part.name),
                            "`paths` gives the order in which its layers run");
  for (const nn::PathSpec& path : s.model.spec.paths)
    if (std::any_of(path.layers.begin(), path.layers.end(),
                    [&](const std::string& layer) { return !s.model.part_of(path.name).has(layer); }))
      return problems.error(parts->mark, fmt::format("path `{}` leaves its part", path.name),
                            "a forward uses one model; give each part its own paths");
  const bool compared = std::any_of(s.expect.values.begin(), s.expect.values.end(),
                                    [](const ExpectValue& v) { return v.equals.has_value(); });
  if (!s.model.per_rank.empty() || !s.model.branches.empty() || s.data_parallel || s.optimizer.copies || compared)
    problems.error(parts->mark,
                   "`parts` beside `per_rank`, `branches`, `data_parallel`, copies of an optimizer or `equals`",
                   "these work with one model only");
}

void check_traffic(const Node& layer, const Scenario& s, Problems& problems) {
  const Entry* traffic = entry_of(layer, "traffic");
  if (traffic == nullptr) return;
  if (layer.find("compute") != nullptr)
    problems.error(traffic->mark, "`traffic` beside `compute`", "give either the time, or the amount that it follows "
                                                                "from");
  if (!s.world.memory_speed && !problems.doubts(Fact::world))
    problems.error(traffic->mark, "`traffic` without the speed of a memory",
                   "give `memory_speed: 900GB/s` in world, or `compute` instead");
}

// Checks the options of a layer besides its kind.
void check_options(const Node& layers, const std::vector<nn::LayerSpec>& specs, const Scenario& s, Problems& problems) {
  for (const nn::LayerSpec& layer : specs) {
    const Node* node = layers.find(layer.name);
    if (node == nullptr || !node->is_map()) continue;
    const bool half = layer.dtype == DType::f16 || layer.dtype == DType::bf16;
    if (half && layer.kind != nn::LayerKind::meta)
      problems.error(node->find("dtype")->mark, fmt::format("`{}` computes in {}", layer.name, name_of(*layer.dtype)),
                     "layers with values are f32 or f64; `meta` ones have any of the four");
    if (const Entry* gives = entry_of(*node, "gives"); gives != nullptr && layer.kind != nn::LayerKind::meta)
      problems.error(gives->mark, fmt::format("`gives` of `{}`, which is not `meta`", layer.name),
                     "the output of other layers follows from their shapes");
    check_traffic(*node, s, problems);
    const Entry* flops = entry_of(*node, "flops");
    if (flops == nullptr) continue;
    if (node->find("compute") != nullptr)
      problems.error(flops->mark, "`flops` beside `compute`", "give either the time, or the amount that it follows from");
    if (!s.world.device_speed && !problems.doubts(Fact::world))
      problems.error(flops->mark, "`flops` without the speed of a device",
                     "give `device_speed: 19.5TFLOP/s` in world, or `compute` instead");
  }
}

// Layers with sizes alone: not every operation and option can work with them.
void check_meta(const Node& document, const Scenario& s, Problems& problems) {
  const auto is_meta = [](const nn::LayerSpec& layer) {
    return layer.kind == nn::LayerKind::meta && !layer.shapes.empty();
  };
  const auto& layers = s.model.spec.layers;
  const auto found = std::find_if(layers.begin(), layers.end(), is_meta);
  if (found == layers.end()) return;
  const Node* ddp = document.find("ddp");
  if (s.ddp.options.comm_hook.kind == CommHookSpec::Kind::powersgd && ddp != nullptr)
    problems.error(entry_of(*ddp, "comm_hook")->mark,
                   fmt::format("`powersgd` of gradients without values, those of `{}`", found->name),
                   "its messages depend on the values; use allreduce, fp16_compress or bf16_compress");
  for (const Operation& op : s.program)
    if (op.name == "checkpoint" || op.name == "load_checkpoint")
      problems.error(op.mark, fmt::format("`{}` of parameters without values, those of `{}`", op.name, found->name),
                     "there is nothing to write; give its cost with `compute`");
}

void check_data_parallel(const Node& document, const Scenario& s, Problems& problems) {
  if (!s.data_parallel || s.data_parallel->devices == 0) return;
  const Entry& entry = *entry_of(document, "data_parallel");
  if (!problems.doubts(Fact::ranks) && s.world.spec.ranks() != 1)
    problems.error(entry.mark, fmt::format("`data_parallel` in a world of {} ranks", s.world.spec.ranks()),
                   "it is one process with several devices: `world: {ranks: 1}`");
  if (s.data_parallel->output_device >= s.data_parallel->devices)
    problems.error(entry_of(entry.value, "output_device")->mark,
                   fmt::format("device {} of {}", s.data_parallel->output_device, s.data_parallel->devices),
                   fmt::format("devices are 0..{}", s.data_parallel->devices - 1));
  if (!s.model.given && !problems.doubts(Fact::model))
    problems.error(entry.mark, "`data_parallel` without a model", "give the file a model");
  if (nn::devices_of(s.model.spec) > 1)
    problems.error(entry.mark, "`data_parallel` of a model whose layers are on several devices",
                   "a replica is on one device: remove `device` from the layers");
}

void check_embeddings(const Scenario& s, const Mark& mark, Problems& problems) {
  for (const nn::PathSpec& path : s.model.spec.paths)
    for (std::size_t i = 1; i < path.layers.size(); ++i)
      if (const nn::LayerSpec* layer = layer_named(s, path.layers[i]);
          layer != nullptr && layer->kind == nn::LayerKind::embedding)
        problems.error(mark, fmt::format("`{}` is not first in path `{}`", layer->name, path.name),
                       "an embedding needs indices, and only the batch has them");
}

// Layers that some ranks build instead: of the same names, with an order that names each once.
void check_changes(const Node& model, const Scenario& s, Problems& problems) {
  const Node* per_rank = model.find("per_rank");
  if (per_rank == nullptr) return;
  for (const Node& item : per_rank->items) {
    check_when(item.find("when"), s, problems);
    if (const Node* layers = item.find("layers"))
      for (const Entry& entry : layers->entries)
        if (layer_named(s, entry.key) == nullptr)
          problems.error(entry.mark, fmt::format("`per_rank` names an unknown layer `{}`", entry.key),
                         suggestion(entry.key, layer_names(s), "layers are"));
    const Node* order = item.find("order");
    if (order == nullptr) continue;
    std::vector<std::string> named;
    for (const Node& layer : order->items) named.push_back(layer.text);
    std::sort(named.begin(), named.end());
    std::vector<std::string_view> all = layer_names(s);
    std::sort(all.begin(), all.end());
    if (!std::equal(named.begin(), named.end(), all.begin(), all.end()))
      problems.error(order->mark, "`order` does not name each layer once",
                     fmt::format("layers are {}", fmt::join(layer_names(s), ", ")));
  }
  for (const ModelChange& change : s.model.per_rank)
    for (const nn::LayerSpec& layer : change.layers)
      if (!nn::keeps_any_width(layer.kind) && (layer.out < 1 || layer.in > limits::width || layer.out > limits::width))
        problems.error(change.mark, fmt::format("`{}` has no possible width", layer.name),
                       fmt::format("widths are 1..{}", limits::width));
}

// Ranks that do not construct DDP leave the others waiting in the constructor. A file may mean that.
void check_wrapped_ranks(const Node& ddp, const Scenario& s, Problems& problems) {
  const Entry* ranks = entry_of(ddp, "ranks");
  if (ranks == nullptr || problems.doubts(Fact::ranks)) return;
  check_rank_set(&ranks->value, s.ddp.ranks, s, problems);
  std::vector<int> some;
  for (int r = 0; r < s.world.spec.ranks(); ++r)
    if (s.ddp.wraps(r)) some.push_back(r);
  if (some.empty() || static_cast<int>(some.size()) == s.world.spec.ranks()) return;
  problems.warning(ranks->mark,
                   fmt::format("only {} {} DDP", ranks_text(some), some.size() == 1 ? "constructs" : "construct"),
                   "every rank must construct it, or those that do wait for the others in its constructor");
}

}  // namespace

void check_model(const Node& document, const Scenario& s, Problems& problems) {
  const Node* ddp = document.find("ddp");
  if (ddp != nullptr && s.ddp.wrap) check_wrapped_ranks(*ddp, s, problems);
  if (s.ddp.options.check_reduction && ddp != nullptr)
    problems.warning(entry_of(*ddp, "check_reduction")->mark, "`check_reduction` does nothing",
                     "it is deprecated in PyTorch; remove it");
  check_data_parallel(document, s, problems);
  if (!problems.doubts(Fact::model)) check_part_users(s.program, s, problems);
  const Node* model = document.find("model");
  if (model == nullptr) return;
  check_layers(*model, s, problems);
  check_parts(*model, s, problems);
  check_changes(*model, s, problems);
  if (const Node* layers = model->find("layers")) check_options(*layers, s.model.spec.layers, s, problems);
  if (const Node* per_rank = model->find("per_rank"))
    for (std::size_t i = 0; i < per_rank->items.size() && i < s.model.per_rank.size(); ++i)
      if (const Node* layers = per_rank->items[i].find("layers"))
        check_options(*layers, s.model.per_rank[i].layers, s, problems);
  check_meta(document, s, problems);
  check_embeddings(s, s.model.mark, problems);
  const Node* paths = model->find("paths");
  if (paths != nullptr) {
    for (const Entry& path : paths->entries) check_path(path, s, problems);
  } else if (const Node* layers = model->find("layers"); layers != nullptr) {
    Widths widths("full", problems);
    bool linear = false;
    for (const Entry& entry : layers->entries) {
      const nn::LayerSpec* layer = layer_named(s, entry.key);
      if (layer == nullptr) continue;
      widths.next(*layer, entry.mark);
      linear = linear || gives_a_loss(*layer);
    }
    if (!linear && !layers->entries.empty())
      problems.error(layers->entries.front().mark, "the model has no width", "give it a linear or a batchnorm layer");
  }
  const Node* branches = model->find("branches");
  if (branches == nullptr) return;
  std::vector<std::string_view> names;
  for (const nn::PathSpec& path : s.model.spec.paths) names.push_back(path.name);
  if (names.empty()) names.push_back("full");
  const std::int64_t last = last_step(s);
  for (const Node& item : branches->items) {
    check_when(item.find("when"), s, problems);
    const Node* path = item.find("path");
    if (path != nullptr && std::find(names.begin(), names.end(), path->text) == names.end())
      problems.error(path->mark, fmt::format("unknown path `{}`", path->text),
                     suggestion(path->text, names, "paths are"));
    const Node* when = item.find("when");
    const Node* step = when != nullptr && when->is_map() ? when->find("step") : nullptr;
    if (step == nullptr || last < 0 || problems.doubts(Fact::steps)) continue;
    const auto set = read_int_set(*step);
    if (!set || set->named().empty() || set->contains(last)) continue;
    if (set->named().front() > last)
      problems.warning(step->mark, fmt::format("step {} is never run", set->named().front()),
                       fmt::format("steps are 0..{}", last));
  }
}

}  // namespace pdsim::scenarios::language
