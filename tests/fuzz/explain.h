// What `pdsim diagnose` does with a record once it is read.
#pragma once

#include "core/group/rank_program.h"

#include <string>

namespace pdsim::fuzz {

// Analyses the run as one of `world` and renders the diagnosis.
void explain(RunRecord run, const std::string& world);

}  // namespace pdsim::fuzz
