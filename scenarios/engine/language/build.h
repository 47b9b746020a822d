// From a document whose shape is right to a Scenario.
#pragma once

#include "scenarios/engine/language/tree.h"
#include "scenarios/engine/scenario.h"

namespace pdsim::scenarios::language {

Scenario build_scenario(const Node& document);

// Parts of it.
std::vector<Operation> build_program(const Node& list);
When build_when(const Node& node);
Expect build_expect(const Entry& entry);

}  // namespace pdsim::scenarios::language
