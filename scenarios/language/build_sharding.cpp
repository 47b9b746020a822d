// `mesh`, `fully_shard` and `tensor_parallel` of a document whose shape is right.
#include "scenarios/language/build.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/sections.h"

namespace pdsim::scenarios::language {
namespace {

void read_names(const Node& map, std::string_view key, std::vector<std::string>& names) {
  const Node* list = map.find(key);
  if (list == nullptr) return;
  for (const Node& item : list->items) names.push_back(item.text);
}

}  // namespace

void build_sharding(const Node& document, Scenario& s) {
  if (const Entry* entry = entry_of(document, "mesh")) {
    s.mesh.mark = span_of(*entry);
    for (const Entry& dimension : entry->value.entries)
      s.mesh.dimensions.push_back({dimension.key, static_cast<int>(read_integer(dimension.value.text).value_or(1))});
  }
  if (const Entry* entry = entry_of(document, "fully_shard")) {
    FullyShard sharded;
    sharded.mark = span_of(*entry);
    read(entry->value, "group", sharded.group);
    read_bound(entry->value, fully_shard_options(), &sharded.options);
    for (const Entry& unit : section(entry->value, "units").entries) {
      ShardedUnitSpec spec{unit.key, {}};
      for (const Node& layer : unit.value.items) spec.layers.push_back(layer.text);
      sharded.options.units.push_back(std::move(spec));
    }
    s.fully_shard = std::move(sharded);
    s.ddp.wrap = false;
  }
  if (const Entry* entry = entry_of(document, "tensor_parallel")) {
    TensorParallel split;
    split.mark = span_of(*entry);
    read(entry->value, "group", split.group);
    read_names(entry->value, "colwise", split.colwise);
    read_names(entry->value, "rowwise", split.rowwise);
    s.tensor_parallel = std::move(split);
  }
}

}  // namespace pdsim::scenarios::language
