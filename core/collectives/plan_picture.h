// Pictures of a plan: who sends what to whom, round by round.
#pragma once

#include "core/collectives/plan_checker.h"

#include <string>
#include <vector>

namespace pdsim {

// The messages of one rank's round, or of the last one before it that has any, and those in flight with them, one a line,
// at most 16. With `waiting`, lines that tell who waits for whom, those instead.
std::string draw_round(const std::vector<PlanMessage>& messages, Rank rank, int round,
                       const std::vector<std::string>& waiting);

}  // namespace pdsim
