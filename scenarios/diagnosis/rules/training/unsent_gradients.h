// Ranks that wait for gradients which another rank never sends, because its forward did not arm DDP's reducer.
#pragma once

#include "scenarios/diagnosis/report.h"

namespace pdsim::scenarios::diagnoses {

// Writes headline, cause, why and fix of a finding whose first divergence is such a bucket; leaves any other finding unchanged.
void explain_unsent_gradients(Diagnosis& d, const Report& report);

}  // namespace pdsim::scenarios::diagnoses
