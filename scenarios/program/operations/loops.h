// Operations that run others several times.
#pragma once

#include "scenarios/program/session.h"

#include <cstdint>
#include <functional>

namespace pdsim::scenarios::operations {

// Runs `body` once per step, with `op` as the site of everything in it.
Status run_steps(Session& s, const Operation& op, std::int64_t steps, const std::function<Status()>& body);

}  // namespace pdsim::scenarios::operations
