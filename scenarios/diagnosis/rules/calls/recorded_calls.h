// The finding that some ranks' calls come from other places than those of most, for records without a program.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/diagnosis/rules/calls/other_calls.h"

#include <optional>
#include <string>

namespace pdsim::scenarios::diagnoses {

// Nothing when the places agree, the difference has the other face, or the hang being explained is unrelated.
std::optional<Diagnosis> recorded_calls(const Report& report, Face face);

// "The ranks left the loop around all_reduce at train.py:15 after different numbers of rounds: it was called 4 times on ranks 0,
// 2, ..."
std::string rounds_text(const Report& report, const LoopRounds& rounds);

// Whether a difference is a finding by itself, although no mismatched call failed.
bool is_silent_mix(const RecordedDifference& d);

}  // namespace pdsim::scenarios::diagnoses
