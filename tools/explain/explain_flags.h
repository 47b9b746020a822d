// The flags of `pdsim explain` that say something only about some subjects.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace pdsim::tools {

// Returns the problem with flags that were given and do not apply to `id`, as --root to a diagnosis; empty if there is none.
std::string misplaced_flag(const CLI::App& app, const std::string& id);

}  // namespace pdsim::tools
