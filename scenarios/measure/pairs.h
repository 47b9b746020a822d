// Times every pair of ranks of a world, and tells how well the simulated network, given the link that was fitted, predicts the
// world's collectives.
#pragma once

#include "core/measure/pairs.h"
#include "core/measure/timing.h"
#include "scenarios/measure/trial_world.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct TimedPairs {
  std::vector<PairTimes> pairs;
  std::string failure;  // why not all pairs were timed, as a report; empty: they were
};

// Errors: what is not the ranks' doing (unavailable, limit_exceeded, io_error, cancelled).
Result<TimedPairs> time_pairs(const TrialWorld& world, const PairRequest& request);

// What the request takes in the simulated world of as many ranks, each with one port, over `link`; out of place, by count.
Result<std::vector<Time>> predict(const LinkFit& link, int ranks, const TimingRequest& request);

}  // namespace pdsim::scenarios
