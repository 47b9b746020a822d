// The finding that the calls of some ranks come from other places than those of most, of records without a program.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/diagnosis/rules/calls/other_calls.h"

#include <optional>

namespace pdsim::scenarios::diagnoses {

// Nothing when the places agree, the difference has the other face, or the hang that is being explained has nothing to do with it.
std::optional<Diagnosis> recorded_calls(const Report& report, Face face);

// Whether a difference is a finding by itself, although no call that met another failed.
bool is_silent_mix(const RecordedDifference& d);

}  // namespace pdsim::scenarios::diagnoses
