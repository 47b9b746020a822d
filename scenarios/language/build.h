// Builds a Scenario from a document that passed the shape check.
#pragma once

#include "scenarios/language/document/tree.h"
#include "scenarios/language/scenario.h"
#include "scenarios/language/tables/key.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {

Scenario build_scenario(const Node& document);

// Builds parts of it.
std::vector<Operation> build_program(const Node& list);
When build_when(const Node& node);
Expect build_expect(const Entry& entry);
void build_model(const Node& document, Model& model);
// For layers that give `compute`, `backward` or `flops`, and for all layers where the device has a speed.
void set_layer_times(const Node& document, Scenario& scenario);
void build_ddp(const Node& document, Ddp& ddp);
// Builds mesh, fully_shard and tensor_parallel.
void build_sharding(const Node& document, Scenario& scenario);

// The mapping at a key; an empty one when there is none.
const Node& section(const Node& map, std::string_view key);
// The row of a one_of group that an entry selects, and its options; nulls for a name alone.
std::pair<const Entry*, const Key*> chosen(const Node& item, std::span<const Key> rows);

}  // namespace pdsim::scenarios::language
