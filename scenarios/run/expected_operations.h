// Parts of check_expectations (expectations.h): times, and what single operations of the program did.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// How far a time is outside the range that a file expects; of `near` only where times are those that the file says.
std::vector<Failure> misses(const std::string& what, const Expect::TimeRange& range, Time got, bool exact);

// Adds to `operations` and `failures` what `expect.operations` speaks of. A rank that never ran the operation, or is still in
// it, fails what is expected of it.
void check_operations(Report& report, const Expect& expect, bool exact);

}  // namespace pdsim::scenarios
