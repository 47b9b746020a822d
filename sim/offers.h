// What each library has: which operations, for which dtypes and reduce ops. Data, from PyTorch's capability tables.
#pragma once

#include "core/base/result.h"
#include "core/collectives/collective.h"
#include "sim/personality.h"

namespace pdsim::sim {

// Error: unsupported, with what the library says. Sends and receives move bytes, so every dtype goes.
Status offers(const Personality& personality, const Profile& profile, const Collective& call);

}  // namespace pdsim::sim
