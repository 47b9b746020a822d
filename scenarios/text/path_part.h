// Makes names from outside (of scenarios, records, jobs) safe as parts of paths.
#pragma once

#include <string>
#include <string_view>

namespace pdsim {

// Returns one file or folder name that stays in its folder: printable, without `/`, `\\` and `?`, not beginning with a dot, of at
// most 200 bytes and not empty. Invalid characters become `_`; a valid name comes back unchanged.
std::string path_part(std::string_view name);

}  // namespace pdsim
