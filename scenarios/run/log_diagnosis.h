// Diagnoses plain logs of a job: the facts' own findings, else those of the rules on the record built from the facts.
#pragma once

#include "scenarios/diagnosis/logs/log_findings.h"

#include <memory>
#include <string>

namespace pdsim::scenarios {

struct LogDiagnosis {
  std::unique_ptr<Scenario> scenario;  // the report points to it
  Report report;
  LogStory story;
};

// `name`: that of the job, in the report.
LogDiagnosis diagnose_logs(const logs::LogFacts& facts, const std::string& name);

}  // namespace pdsim::scenarios
