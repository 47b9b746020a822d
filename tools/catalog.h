// The catalog: the scenario files that come with pdsim, and how an argument names one.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Beside the installed command (share/pdsim/scenarios), or in the source tree it was built from.
std::string catalog_folder();

// Every scenario file of the catalog, sorted; paths as a user here would type them.
std::vector<std::string> catalog_files();

// The file that `argument` names: a path, or the name of a catalog file with or without its .yaml.
// Errors: input_invalid, with the nearest name of the catalog.
Result<std::string> find_scenario(std::string_view argument);

}  // namespace pdsim::tools
