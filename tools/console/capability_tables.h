// The capabilities of the worlds, as doctor and list print them.
#pragma once

#include <string>

namespace pdsim::tools {

// Two tables: collectives, and reduce operations by dtype; a column for each world.
std::string capability_tables();

}  // namespace pdsim::tools
