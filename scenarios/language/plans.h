// The plans in files named by a scenario's `algorithm:`.
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/plans/own_plan.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios::language {

// Reads the file of every `algorithm: NAME.plan` of the program, relative to the scenario's own folder, into Scenario::plans.
// Reads texts only: loading a scenario runs nothing.
void load_plans(Scenario& scenario);

// The problem of a plan of the kind in a world of this many ranks, in one line; empty: none.
std::string plan_problem(const LoadedPlan& loaded, CollectiveKind kind, int ranks);

}  // namespace pdsim::scenarios::language
