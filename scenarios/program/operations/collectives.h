// Operations that are one collective call, and the rank that such a call names.
#pragma once

#include "scenarios/program/session.h"

namespace pdsim::scenarios::operations {

// Runs every operation that is a single collective call, send and recv included.
Status collective(Session& s, const Operation& op);

// The group rank for `src`, `dst`, `group_src` or `group_dst`; any_source; 0 where the kind has none.
// Error: a rank of the world that is not in the group.
Result<Rank> root_of(const Operation& op, const ProcessGroup& group, CollectiveKind kind);

}  // namespace pdsim::scenarios::operations
