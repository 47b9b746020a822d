// Loading the scenario files that a command line names, with every problem told.
#pragma once

#include "scenarios/language/loader.h"
#include "tools/console/console.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

// Finds and loads every argument. Problems and warnings go to the console's problems; nothing when any file has an error.
std::optional<std::vector<scenarios::LoadedFile>> load_all(const std::vector<std::string>& arguments, Console& console);

// The variants called `name`, or all of them when it is empty. Null, and the problem told, when there is none.
std::optional<std::vector<const scenarios::Scenario*>> select_variants(const scenarios::LoadedFile& file,
                                                                       std::string_view name, Console& console);

}  // namespace pdsim::tools
