// Times one collective with one algorithm in a world.
#pragma once

#include "core/measure/timing.h"
#include "scenarios/measure/trial_world.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdsim::scenarios {

struct Timed {
  std::vector<TimedRound> rounds;
  std::string failure;        // why a round did not end, as a report; empty: all did
  std::int64_t messages = 0;  // simulated world: all messages sent, including those of joining
};

// Errors: those that the algorithm did not cause (unavailable, limit_exceeded, io_error, cancelled).
Result<Timed> time(const TrialWorld& world, const TimingRequest& request);

}  // namespace pdsim::scenarios
