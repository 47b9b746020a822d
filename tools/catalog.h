// The catalog: the scenario files that come with pdsim, and how an argument names one.
#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// The folder beside the installed command (share/pdsim/scenarios), unpacked from a portable one, or in the source tree it was
// built from. Errors: io_error, where a portable one finds no place to unpack.
Result<std::string> catalog_folder();

// The same for another kind of data: labs, or guest (the Python part of `run`).
Result<std::string> data_folder(const std::string& kind, const std::string& source_folder);

// Every scenario file of the catalog, sorted; paths as a user would type them here.
std::vector<std::string> catalog_files();

// The file that `argument` names: a path, or the name of a catalog file with or without its .yaml.
// Errors: input_invalid, with the nearest name of the catalog.
Result<std::string> find_scenario(std::string_view argument);

}  // namespace pdsim::tools
