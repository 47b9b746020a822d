// Logs of jobs as their users have them.
#pragma once

#include "scenarios/run/log_diagnosis.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios::logs {

// One line of NCCL's watchdog on a rank, with torch's prefix, and the two lines of ProcessGroupNCCL that follow it.
std::string watchdog(int rank, int seq, std::string_view op, long elements, int enqueued, int completed);
// A rank that others made dump: how far it had come.
std::string dump_signal(int rank, int enqueued, int completed);

LogDiagnosis diagnosed(std::string_view log);
LogFacts facts_of(std::string_view log);

// The first finding as "id: 0, 2 (waiting 1)"; "none" without one.
std::string found(const LogDiagnosis& done);

}  // namespace pdsim::scenarios::logs
