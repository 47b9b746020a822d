#include "scenarios/language/scenario.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {

bool When::selects(int rank, int node, int step) const {
  if (any.empty()) return true;
  return std::any_of(any.begin(), any.end(), [&](const Selector& s) {
    const bool in_step = step < 0 ? s.step.is_all() : s.step.contains(step);
    return s.rank.contains(rank) && s.node.contains(node) && in_step;
  });
}

std::int64_t Operation::rounds() const {
  if (const auto* train = if_is<TrainOptions>()) return train->steps;
  if (const auto* repeat = if_is<RepeatOptions>()) return repeat->times;
  if (const auto* eval = if_is<EvalOptions>()) return eval->steps.value_or(1);
  return 1;
}

const std::string& Operation::group() const {
  if (const auto* call = if_is<CollectiveOptions>()) return call->group;
  if (const auto* batch = if_is<BatchOptions>()) return batch->group;
  if (const auto* barrier = if_is<MonitoredBarrierOptions>()) return barrier->group;
  if (const auto* destroy = if_is<DestroyOptions>()) return destroy->group;
  return world_group;
}

namespace {
const Operation* labelled_in(const std::vector<Operation>& program, std::string_view label) {
  for (const Operation& op : program) {
    if (op.label == label) return &op;
    if (const Operation* found = labelled_in(op.body, label)) return found;
  }
  return nullptr;
}
}  // namespace

VariantRole Scenario::role() const {
  if (shows) return *shows;
  const bool diagnosed = expect.diagnosis && **expect.diagnosis != "none";
  return *expect.outcome != Outcome::ok || diagnosed ? VariantRole::pitfall : VariantRole::cure;
}

const Operation* Scenario::labelled(std::string_view label) const { return labelled_in(program, label); }

const Mesh::Dimension* Mesh::named(std::string_view name) const {
  const auto found = std::find_if(dimensions.begin(), dimensions.end(), [&](const auto& d) { return d.name == name; });
  return found == dimensions.end() ? nullptr : &*found;
}

int Mesh::place(int rank, std::string_view dimension) const {
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (d->name == dimension) return rank % d->size;
    rank /= d->size;
  }
  return 0;
}

std::vector<std::vector<int>> Mesh::groups(std::string_view dimension, int ranks) const {
  std::vector<std::vector<int>> groups;
  std::vector<int> first(static_cast<std::size_t>(ranks), -1);  // of the group that begins here
  int stride = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend() && d->name != dimension; ++d) stride *= d->size;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto begin = static_cast<std::size_t>(rank - place(rank, dimension) * stride);
    if (first[begin] < 0) {
      first[begin] = static_cast<int>(groups.size());
      groups.emplace_back();
    }
    groups[static_cast<std::size_t>(first[begin])].push_back(rank);
  }
  return groups;
}

std::string Mesh::group_name(std::string_view dimension, std::size_t number) { return fmt::format("{}_{}", dimension, number); }

bool Scenario::is_first_part(int rank) const {
  if (!tensor_parallel) return true;
  return mesh.named(tensor_parallel->group) != nullptr ? mesh.place(rank, tensor_parallel->group) == 0 : rank == 0;
}

int Scenario::data_rank(int rank) const {
  if (!tensor_parallel) return rank;
  if (mesh.named(tensor_parallel->group) == nullptr) return 0;
  int place = 0;
  for (const Mesh::Dimension& d : mesh.dimensions)
    if (d.name != tensor_parallel->group) place = place * d.size + mesh.place(rank, d.name);
  return place;
}

int Scenario::data_ranks() const {
  const int ranks = world.spec.ranks();
  if (!tensor_parallel) return ranks;
  const Mesh::Dimension* split = mesh.named(tensor_parallel->group);
  return split != nullptr ? ranks / split->size : 1;
}

bool ModelPart::has(const std::string& layer) const {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

const ModelPart& Model::part_of(const std::string& path) const {
  for (const nn::PathSpec& known : spec.paths)
    for (const ModelPart& part : parts)
      if (known.name == path && part.has(known.layers.front())) return part;
  return parts.front();
}

nn::ModuleSpec Model::spec_of(int rank, int node) const {
  nn::ModuleSpec built = spec;
  for (const ModelChange& change : per_rank) {
    if (!change.when.selects(rank, node, -1)) continue;
    for (const nn::LayerSpec& other : change.layers)
      for (nn::LayerSpec& layer : built.layers)
        if (layer.name == other.name) layer = other;
    if (change.order.empty()) continue;
    if (built.paths.empty()) {  // forward runs as before: only the registration changes
      nn::PathSpec full{"full", {}};
      for (const nn::LayerSpec& layer : built.layers) full.layers.push_back(layer.name);
      built.paths.push_back(std::move(full));
    }
    const auto place = [&](const nn::LayerSpec& layer) {
      return std::find(change.order.begin(), change.order.end(), layer.name) - change.order.begin();
    };
    std::stable_sort(built.layers.begin(), built.layers.end(),
                     [&](const nn::LayerSpec& a, const nn::LayerSpec& b) { return place(a) < place(b); });
  }
  return built;
}

}  // namespace pdsim::scenarios
