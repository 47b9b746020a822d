// The part of pdsim diagnose that reads what the ranks of a script recorded beside their own library (PDSIM_RECORD).
#pragma once

#include "tools/command.h"
#include "tools/explain/job_output.h"

#include <string>
#include <vector>

namespace pdsim::tools {

// Records of one job, in one folder or several, told as `name`. Writes the ranks' calls into the scenario file `save`, unless that is
// empty. Exit status.
int diagnose_rank_records(const std::vector<std::string>& records, const std::string& name, const std::string& save,
                          JobOutput& output, Console& console);

}  // namespace pdsim::tools
