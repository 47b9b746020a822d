// Ranks in different calls of a sharded model: the unit, the ranks and the cure, for the rule that found the calls apart.
#pragma once

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios::diagnoses {

// Rewords the finding in terms of the units, where one of the camps at the divergence gathers or reduces one; otherwise changes
// nothing.
void explain_units(Diagnosis& d, const Report& report, const std::vector<CallCamp>& camps);

// The same where the other ranks have ended and never make the unit's call.
void explain_missing_unit(Diagnosis& d, const Report& report);

}  // namespace pdsim::scenarios::diagnoses
