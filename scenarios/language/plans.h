// The plans of files that a scenario's `algorithm:` names.
#pragma once

#include "scenarios/language/scenario.h"
#include "scenarios/plans/own_plan.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios::language {

// Reads the file of every `algorithm: NAME.plan` of the program, relative to the scenario's own folder, into Scenario::plans. Texts
// only: loading a scenario runs nothing.
void load_plans(Scenario& scenario);

// What is wrong with a plan of the kind in a world of so many ranks, in one line; empty: nothing.
std::string plan_problem(const LoadedPlan& loaded, CollectiveKind kind, int ranks);

}  // namespace pdsim::scenarios::language
