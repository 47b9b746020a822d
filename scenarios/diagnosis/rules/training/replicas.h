// The parameters of all ranks, compared after each step of the optimizer.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios::diagnoses {

// Those that are not the same on all ranks after the first step that shows it; empty where none is known to differ.
std::vector<std::string> parameters_apart(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
