// An algorithm's rounds, printed as a plan's text for one number of ranks, count and root.
#pragma once

#include "core/collectives/proof/plan_checker.h"

#include <string>

namespace pdsim {

// Prints every rank's rounds below an `if r == ...:`, in elements of the named buffers. Parsing the result (plan_text.h) gives
// the same plan. At most `limit` steps; "" where there are more, or the plan throws.
std::string printed_plan(const Algorithm& algorithm, const PlanCase& at, std::size_t limit = 2'000);

}  // namespace pdsim
