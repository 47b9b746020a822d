// The part of pdsim diagnose that reads the records made by a script's ranks beside their own library (PDSIM_RECORD).
#pragma once

#include "tools/command.h"
#include "tools/explain/job_output.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// Records of one job, in one folder or several, reported as `name`. Writes the ranks' calls into the scenario file `save`, unless
// that is empty. Returns the exit status.
int diagnose_rank_records(const std::vector<std::string>& records, const std::string& name, const std::string& save,
                          JobOutput& output, Console& console);

}  // namespace pdsim::tools
