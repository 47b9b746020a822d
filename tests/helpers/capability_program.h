// A rank program that tries every cell of the table of capabilities over the world's own collectives.
#pragma once

#include "core/group/process_group.h"

#include <string_view>

namespace pdsim {

// An error names the first cell of `world` that is not as the table says: a collective that the library has is done by it, one that
// it lacks is refused when `native` is asked for, and every operation that a dtype has gives the right element. Two ranks, so that an average is exact.
Status try_capabilities(std::string_view world, ProcessGroup& group);

}  // namespace pdsim
