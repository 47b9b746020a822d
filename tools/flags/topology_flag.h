// --topology: a scenario's `world.topology` in one word, such as fat_tree:leaf=16,oversubscription=2,hop=1us.
#pragma once

#include "core/base/result.h"
#include "sim/world_spec.h"

#include <string>

namespace pdsim::tools {

// Errors: invalid_argument, with the correct form.
Result<sim::Topology> parse_topology(const std::string& text);

// The problem with the topology in this world; empty: none.
std::string topology_problem(const sim::WorldSpec& spec);

}  // namespace pdsim::tools
