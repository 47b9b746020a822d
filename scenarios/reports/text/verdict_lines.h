// The first lines of a text report: how each variant ended, and whether that was expected.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// "PASS  broken  deadlocked in step 2, as expected   [unused-parameters]": by report its lines, in the same columns. What is too
// long for its column goes on below it.
std::vector<std::string> verdict_lines(const std::vector<Report>& reports);

}  // namespace pdsim::scenarios
