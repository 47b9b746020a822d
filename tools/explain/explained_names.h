// The names that pdsim's tables hold, for `did you mean` and for completion in a shell.
#pragma once

#include <string>
#include <vector>

namespace pdsim::tools {

// What `pdsim explain` takes besides texts: diagnoses, errors, algorithms, pipeline schedules, concepts, files of the catalog.
std::vector<std::string> explained_names();

// What `pdsim list --what` takes.
std::vector<std::string> listed_kinds();

// The files of the catalog, without .yaml.
std::vector<std::string> catalog_names();

}  // namespace pdsim::tools
