// The text report on dumps of a PyTorch job: for each finding its answer, then the reasons and the evidence.
//
//   order    the job; for each finding its headline with the answer (answer.h); why and fix; progress by process group; waits by
//            rank; state of the ranks; places; timeline; files left out
//   lists    a list of ranks that is too long for its column says how many more there are; sentences are wrapped, never cut
//   times    of day in UTC, by the clocks of the hosts
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

std::string render_dumps(const Report& report);

// Nothing was found, and a call was open, which may have been in flight: a later record can tell.
bool may_be_in_flight(const Report& report);

}  // namespace pdsim::scenarios
