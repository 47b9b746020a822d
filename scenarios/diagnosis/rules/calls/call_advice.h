// Advice on calls that only some ranks make.
#pragma once

#include "scenarios/diagnosis/analysis/schedule_difference.h"

namespace pdsim::scenarios::diagnoses {

// Sets the fix and its lines: for collectives, for calls of a training loop, and for loops that some ranks leave early.
void advise(Diagnosis& found, const Report& report, const ScheduleDifference& difference);

}  // namespace pdsim::scenarios::diagnoses
