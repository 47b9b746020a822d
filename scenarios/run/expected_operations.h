// Parts of check_expectations (analyse.h): times, and the results of single operations of the program.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// How far a time is outside the range that a file expects; `near` is only checked where times are those stated by the file.
std::vector<Failure> misses(const std::string& what, const Expect::TimeRange& range, Time got, bool exact);

// Adds the operations of `expect.operations` to `operations` and `failures`. A rank that never ran the operation, or is still in
// it, fails its expectations.
void check_operations(Report& report, const Expect& expect, bool exact);

}  // namespace pdsim::scenarios
