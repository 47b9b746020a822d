// Names from elsewhere (of scenarios, records, jobs) as parts of paths.
#pragma once

#include <string>
#include <string_view>

namespace pdsim {

// One file or folder name that stays in its folder: printable, without `/`, `\\` and `?`, not beginning with a dot, of at most 200 bytes
// and not empty. What cannot stand there becomes `_`; a name that is such a part already comes back as it is.
std::string path_part(std::string_view name);

}  // namespace pdsim
