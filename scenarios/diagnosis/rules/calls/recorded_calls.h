// The finding that the calls of some ranks come from other places than those of most, of records without a program.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/diagnosis/rules/calls/other_calls.h"

#include <optional>
#include <string>

namespace pdsim::scenarios::diagnoses {

// Nothing when the places agree, the difference has the other face, or the hang that is being explained has nothing to do with it.
std::optional<Diagnosis> recorded_calls(const Report& report, Face face);

// "The ranks left the loop around all_reduce at train.py:15 after different numbers of rounds: it was called 4 times on ranks 0, 2, ..."
std::string rounds_text(const Report& report, const LoopRounds& rounds);

// Whether a difference is a finding by itself, although no call that met another failed.
bool is_silent_mix(const RecordedDifference& d);

}  // namespace pdsim::scenarios::diagnoses
