// What the worlds offer, as doctor and list print it.
#pragma once

#include <string>

namespace pdsim::tools {

// Two tables: collectives, and reduce operations by dtype; a column for each world.
std::string capability_tables();

}  // namespace pdsim::tools
