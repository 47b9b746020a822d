// `pdsim scenario --json`: one object per file, on one line. Facts that are absent are absent keys.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// The variants of one file; ends with a newline.
std::string render_json(const std::vector<Report>& reports);

}  // namespace pdsim::scenarios
