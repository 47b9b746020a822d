// Advice on calls that only some ranks make.
#pragma once

#include "scenarios/diagnosis/analysis/schedule_difference.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// How many calls these are: each counts in each of its steps.
std::size_t count_of(const std::vector<CallsApart>& calls);

// ", with a tensor of zeros of the same shape where there is nothing to add": what a rank without data passes to this operation, so that the others'
// results stay right; empty where it passes nothing.
std::string without_data(std::string_view operation, bool is_sum);

// Sets the fix and its lines: for collectives, for calls of a training loop, and for loops that some ranks leave early.
void advise(Diagnosis& found, const Report& report, const ScheduleDifference& difference);

}  // namespace pdsim::scenarios::diagnoses
