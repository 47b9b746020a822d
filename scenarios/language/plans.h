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

struct PlanFault {
  std::string what;  // in one line, with the place in the plan; empty: none
  std::string next;  // what to do about it
  std::optional<OtherPlace> cause{};  // the line of the plan
};
// The fault of the plan in `file`, a path as load_plans() opens it, for a call of the kind in a world of this many ranks.
PlanFault plan_fault(const LoadedPlan& loaded, const std::string& file, CollectiveKind kind, int ranks);
// Where `algorithm: NAME.plan` of a scenario is.
std::string plan_path(const Scenario& scenario, const std::string& algorithm);

}  // namespace pdsim::scenarios::language
