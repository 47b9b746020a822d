// The third level checks the meaning of names and numbers. The document's shape is valid.
#pragma once

#include "scenarios/language/document/tree.h"
#include "scenarios/language/scenario.h"

#include <cstdint>
#include <string_view>

namespace pdsim::scenarios::language {

// Takes the document and the scenario built from it. Adds errors and warnings.
void check_world(const Node& document, const Scenario& scenario, Problems& problems);
void check_model(const Node& document, const Scenario& scenario, Problems& problems);
void check_sharding(const Node& document, const Scenario& scenario, Problems& problems);
void check_rpc_pipelines(const Node& document, const Scenario& scenario, Problems& problems);
void check_program(const Node& document, const Scenario& scenario, Problems& problems);
void check_rpc(const Node& document, const Scenario& scenario, Problems& problems);
void check_faults(const Node& document, const Scenario& scenario, Problems& problems);
void check_expect(const Node& document, const Scenario& scenario, Problems& problems);
// Checks ranks, steps and memory against limits.h. Parts over a limit are not expanded.
void check_limits(const Node& document, const Scenario& scenario, Problems& problems);
// Checks for collectives that only some ranks reach.
void check_reach(const Node& document, const Scenario& scenario, Problems& problems);

// Counts all launches and loops; -1 when the program has no train.
std::int64_t last_step(const Scenario& scenario);
// "ranks are 0..3"
std::string ranks_label(const Scenario& scenario);
void check_rank_set(const Node* node, const IntSet& set, const Scenario& scenario, Problems& problems);
void check_when(const Node* node, const Scenario& scenario, Problems& problems);

}  // namespace pdsim::scenarios::language
