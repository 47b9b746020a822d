// Checks the meaning of `mesh`, `fully_shard` and `tensor_parallel` beside the rest of the file.
#include "scenarios/language/build.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/sharding_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

const nn::LayerSpec* find_layer(const Scenario& s, std::string_view name) {
  const auto& layers = s.model.spec.layers;
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const auto& l) { return l.name == name; });
  return found == layers.end() ? nullptr : &*found;
}

void check_mesh(const Scenario& s, const Entry& entry, Problems& problems) {
  std::int64_t places = 1;
  for (const Mesh::Dimension& dimension : s.mesh.dimensions)
    places = std::min<std::int64_t>(places * dimension.size, limits::ranks_without_payload * 2LL);
  for (const Entry& dimension : entry.value.entries)
    if (dimension.key == world_group)
      problems.error(dimension.mark, "`world` is the group of all ranks", "give the dimension another name");
  if (static_cast<std::int64_t>(s.mesh.dimensions.size()) > most_dimensions)
    return problems.error(entry.mark, fmt::format("a mesh of {} dimensions", s.mesh.dimensions.size()),
                          fmt::format("the limit is {}", most_dimensions));
  if (!problems.doubts(Fact::ranks) && places != s.world.spec.ranks())
    problems.error(entry.mark, fmt::format("a mesh of {} places in a world of {} ranks", places, s.world.spec.ranks()),
                   "the product of its dimensions must be the number of ranks");
}

// Checks a section that names the ranks which share something.
void check_group(const Scenario& s, const Node& section, Problems& problems) {
  const Node* group = section.find("group");
  if (group == nullptr || group->text == world_group || s.mesh.named(group->text) != nullptr) return;
  std::vector<std::string_view> names{world_group};
  for (const Mesh::Dimension& dimension : s.mesh.dimensions) names.push_back(dimension.name);
  problems.error(group->mark, fmt::format("the mesh has no dimension `{}`", group->text),
                 suggestion(group->text, names, "there are"));
}

// Each layer of the model, and none twice.
void check_layers_of(const Scenario& s, const Node& names, std::set<std::string>& seen, Problems& problems) {
  std::vector<std::string_view> layers;
  for (const nn::LayerSpec& layer : s.model.spec.layers) layers.push_back(layer.name);
  for (const Node& item : names.items) {
    if (find_layer(s, item.text) == nullptr)
      problems.error(item.mark, fmt::format("the model has no layer `{}`", item.text),
                     suggestion(item.text, layers, "layers are"));
    else if (!seen.insert(item.text).second)
      problems.error(item.mark, fmt::format("layer `{}` is listed twice", item.text),
                     "a layer can be in one unit only, and split in one way only");
  }
}

void refuse_beside(const Scenario& s, const Entry& entry, Problems& problems) {
  const auto refuse = [&](bool given, std::string_view what) {
    if (given)
      problems.error(entry.mark, fmt::format("`{}` beside {}", entry.key, what), "this combination is not supported");
  };
  refuse(!s.model.parts.empty(), "`parts` of the model");
  refuse(s.data_parallel.has_value(), "`data_parallel`");
  refuse(nn::devices_of(s.model.spec) > 1, "layers on several devices of a rank");
  if (!s.model.given && !problems.doubts(Fact::model))
    problems.error(entry.mark, fmt::format("`{}` without a model", entry.key), "give the file a model");
}

void refuse_operations(const std::vector<Operation>& program, Problems& problems) {
  for (const Operation& op : program) {
    if (op.name == "join" || op.name == "requires_grad")
      problems.error(op.mark, fmt::format("`{}` beside `fully_shard`", op.name),
                     op.name == "join" ? "a sharded model has no join()"
                                       : "flat parameters are trained or frozen as a whole; use `frozen` on layers");
    refuse_operations(op.body, problems);
  }
}

void check_fully_shard(const Node& document, const Scenario& s, const Entry& entry, Problems& problems) {
  if (const Entry* ddp = entry_of(document, "ddp"); ddp != nullptr && !ddp->value.is_scalar())
    problems.error(entry.mark, "`fully_shard` beside `ddp`", "a model has one wrapper; remove one of the two");
  refuse_beside(s, entry, problems);
  check_group(s, entry.value, problems);
  std::set<std::string> seen;
  for (const Entry& unit : section(entry.value, "units").entries) check_layers_of(s, unit.value, seen, problems);
  refuse_operations(s.program, problems);
}

int size_of_group(const Scenario& s, const std::string& group) {
  const Mesh::Dimension* dimension = s.mesh.named(group);
  return dimension != nullptr ? dimension->size : s.world.spec.ranks();
}

void check_split(const Scenario& s, const Node& section, std::string_view key, int ranks, Problems& problems) {
  const Node* names = section.find(key);
  if (names == nullptr) return;
  for (const Node& item : names->items) {
    const nn::LayerSpec* layer = find_layer(s, item.text);
    if (layer == nullptr) continue;
    if (layer->kind != nn::LayerKind::linear) {
      problems.error(item.mark, fmt::format("`{}` is not a linear layer", item.text), "only linear layers can be split");
      continue;
    }
    const std::int64_t columns = key == "colwise" ? layer->out : layer->in;
    if (!problems.doubts(Fact::ranks) && columns % ranks != 0)
      problems.error(item.mark, fmt::format("{} columns of `{}` split into {} parts", columns, item.text, ranks),
                     "the ranks of the group must have equal parts");
  }
}

// A colwise layer's output is a part, which only a rowwise layer accepts; in between, layers that work column by column.
void check_split_path(const Scenario& s, const nn::PathSpec& path, const Entry& entry, Problems& problems) {
  const auto in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::string open;
  for (const std::string& name : path.layers) {
    const nn::LayerSpec* layer = find_layer(s, name);
    if (layer == nullptr) return;
    const bool takes_a_part = in(s.tensor_parallel->rowwise, name);
    if (takes_a_part && open.empty())
      return problems.error(entry.mark,
                            fmt::format("`{}` needs a part, but gets the whole in path `{}`", name, path.name),
                            "put a colwise layer before it");
    if (!takes_a_part && !open.empty() && !nn::keeps_any_width(layer->kind))
      return problems.error(
          entry.mark,
          fmt::format("`{}` needs the whole, but gets a part from `{}` in path `{}`", name, open, path.name),
          "put a rowwise layer between them");
    if (takes_a_part) open.clear();
    if (in(s.tensor_parallel->colwise, name)) open = name;
  }
  if (!open.empty())
    problems.error(entry.mark, fmt::format("path `{}` ends with a part, from `{}`", path.name, open),
                   "put a rowwise layer after it");
}

void check_tensor_parallel(const Scenario& s, const Entry& entry, Problems& problems) {
  refuse_beside(s, entry, problems);
  check_group(s, entry.value, problems);
  std::set<std::string> seen;
  const int ranks = size_of_group(s, s.tensor_parallel->group);
  for (const std::string_view key : {"colwise", "rowwise"}) {
    if (const Node* names = entry.value.find(key)) check_layers_of(s, *names, seen, problems);
    check_split(s, entry.value, key, ranks, problems);
  }
  if (!s.model.per_rank.empty())
    problems.error(entry.mark, "`tensor_parallel` beside `per_rank`", "every rank has a part of the same layers");
  std::vector<nn::PathSpec> paths = s.model.spec.paths;
  if (paths.empty()) {
    paths.push_back({"full", {}});
    for (const nn::LayerSpec& layer : s.model.spec.layers) paths.back().layers.push_back(layer.name);
  }
  for (const nn::PathSpec& path : paths) check_split_path(s, path, entry, problems);
  if (s.ddp.wrap && s.ddp.group == s.tensor_parallel->group && s.world.spec.ranks() > 1)
    problems.error(entry.mark, fmt::format("DDP over the ranks of `{}`, which hold parts of one model", s.ddp.group),
                   "give `ddp` the other dimension of the mesh, `ddp: {group: dp}`, or none");
}

void check_clips(const std::vector<Operation>& program, const Scenario& s, Problems& problems) {
  for (const Operation& op : program) {
    const auto* clip = op.if_is<ClipOptions>();
    if (clip != nullptr && clip->of == ClippedNorm::model && !s.fully_shard)
      problems.error(op.mark, "`of: model` for a model that is not sharded",
                     "only a model with `fully_shard` has its own clip_grad_norm_");
    check_clips(op.body, s, problems);
  }
}

}  // namespace

void check_sharding(const Node& document, const Scenario& s, Problems& problems) {
  if (const Entry* mesh = entry_of(document, "mesh")) check_mesh(s, *mesh, problems);
  if (const Node* ddp = document.find("ddp")) check_group(s, *ddp, problems);
  if (const Entry* entry = entry_of(document, "fully_shard")) check_fully_shard(document, s, *entry, problems);
  if (const Entry* entry = entry_of(document, "tensor_parallel")) check_tensor_parallel(s, *entry, problems);
  check_clips(s.program, s, problems);
}

}  // namespace pdsim::scenarios::language
