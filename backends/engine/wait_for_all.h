// Waits in the store until every rank of a group has reached this point, as init_process_group does (its _store_based_barrier).
#pragma once

#include "core/group/backend.h"

#include <string_view>

namespace pdsim {

// Uses one key for each rank, because not every store can count. `point` distinguishes the waits of one group. Errors:
// store_timeout, and the store's own.
Status wait_for_all(Store& store, const JoinOptions& options, std::string_view point, Time timeout);

}  // namespace pdsim
