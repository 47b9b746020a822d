// Plain logs of a job, diagnosed: the facts' own findings, else those of the rules on the record that the facts make.
#pragma once

#include "scenarios/diagnosis/logs/log_findings.h"

#include <memory>
#include <string>

namespace pdsim::scenarios {

struct LogDiagnosis {
  std::unique_ptr<Scenario> scenario;  // of the report, which points to it
  Report report;
  LogStory story;
};

// `name`: of the job, in the report.
LogDiagnosis diagnose_logs(const logs::LogFacts& facts, const std::string& name);

}  // namespace pdsim::scenarios
