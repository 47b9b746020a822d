// Ranks that are in other calls of a sharded model: which unit, which ranks, and what cures it, for the rule that found the calls apart.
#pragma once

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios::diagnoses {

// Says it in the words of the units, where one of the camps at the divergence gathers or reduces one; otherwise nothing changes.
void explain_units(Diagnosis& d, const Report& report, const std::vector<CallCamp>& camps);

// Likewise where the others have ended and never make the call of the unit.
void explain_missing_unit(Diagnosis& d, const Report& report);

}  // namespace pdsim::scenarios::diagnoses
