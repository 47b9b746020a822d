// The report on plain logs: the finding, the facts that the log proves, the open questions, and the next step.
#pragma once

#include "scenarios/diagnosis/logs/log_findings.h"

#include <string>

namespace pdsim::scenarios {

std::string render_logs(const Report& report, const LogStory& story);

// "where the ranks are", from the stacks among the facts; empty without any.
std::string render_stacks(const logs::LogFacts& facts);

}  // namespace pdsim::scenarios
