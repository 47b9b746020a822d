// `pdsim run --save`: writes the ranks' calls as a scenario file. The file is run once before it is written, to record its
// outcome.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/guests/run.h"
#include "tools/command.h"
#include "tools/scenarios/script/run_flags.h"

#include <string>

namespace pdsim::tools {

// Why --save cannot write there; empty: it can, or `path` is empty.
std::string save_problem(const std::string& path);

// Writes flags.save. `report` is of `run`. Returns messages for the user, in lines; `status` becomes that of an error.
std::string save_calls(const RunFlags& flags, const scenarios::guests::GuestRun& run, const scenarios::Report& report,
                       int& status);

}  // namespace pdsim::tools
