// The algorithms that a name stands for on the command line: ring, or all_reduce/ring.
#pragma once

#include "core/collectives/algorithms.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

std::string qualified(const Algorithm& row);
// Of the name alone, or of collective/name.
std::vector<const Algorithm*> algorithms_named(std::string_view id);

}  // namespace pdsim::tools
