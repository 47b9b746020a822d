// The devices on which the tensors of a program's calls are.
#pragma once

#include "scenarios/program/session.h"

namespace pdsim::scenarios::operations {

// Applies the checks of the simulated backend to a call's tensor before the call is started: its device, and whether two ranks
// share one GPU. Errors: unsupported, with the fact device; invalid_argument, with the fact device.
Status check_tensor(Session& s, const Operation& op, const ProcessGroup& group);
// Whether it reads a strided view as the first elements in memory.
bool takes_views_for_packed(const Session& s);

}  // namespace pdsim::scenarios::operations
