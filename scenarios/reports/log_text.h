// The report on plain logs: the finding, what the log proves and leaves open, and the next step.
#pragma once

#include "scenarios/diagnosis/log_findings.h"

#include <string>

namespace pdsim::scenarios {

std::string render_logs(const Report& report, const LogStory& story);

}  // namespace pdsim::scenarios
