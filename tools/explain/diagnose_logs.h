// The part of pdsim diagnose that reads plain logs.
#pragma once

#include "tools/command.h"
#include "tools/explain/job_output.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// Whether to read this file as a log: it has text in lines, and is neither a flight record nor a dump.
bool is_log_file(const std::string& path);
// The files below a folder that are named like logs (.log, .out, .err, .txt, stdout, stderr) and are logs, sorted.
std::vector<std::string> log_files_below(const std::string& folder);
// Diagnoses all files as one job. Returns the exit status.
int diagnose_log_files(const std::vector<std::string>& files, JobOutput& output, Console& console);

}  // namespace pdsim::tools
