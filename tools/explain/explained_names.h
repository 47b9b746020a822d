// The names in pdsim's tables, for `did you mean` and for completion in a shell.
#pragma once

#include "core/collectives/algorithms.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// The names that `pdsim explain` takes besides texts: diagnoses, errors, algorithms, pipeline schedules, concepts, files of the
// catalog.
std::vector<std::string> explained_names();

// The values of `pdsim list --what`.
std::vector<std::string> listed_kinds();

// The files of the catalog, without .yaml.
std::vector<std::string> catalog_names();

// all_reduce/ring.
std::string qualified(const Algorithm& row);
// Returns the algorithms with this name, given alone or as collective/name.
std::vector<const Algorithm*> algorithms_named(std::string_view id);

}  // namespace pdsim::tools
