// Estimates the cost of a program before it is started.
#pragma once

#include "scenarios/language/scenario.h"

namespace pdsim::scenarios::language {

// An upper bound over all ranks and steps; doubles, as only the magnitude matters.
struct WorkEstimate {
  double messages = 0;  // by the closed forms of the algorithms; reads of addresses while a group is created count too
  double multiplications = 0;  // of forwards and backwards
  double bytes = 0;            // of payload that calls fill, move and check
};

WorkEstimate estimate_work(const Scenario& scenario);

}  // namespace pdsim::scenarios::language
