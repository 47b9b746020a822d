// `pdsim diagnose --json`: the findings of one job, as one object on one line. docs/cli.md describes its members.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Ends with a newline.
std::string render_findings(const Report& report);

}  // namespace pdsim::scenarios
