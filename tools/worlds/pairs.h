// What `validate --pairs` and `--expect` do: time every link, name the slow ones, and compare collectives with the network that the
// links make.
#pragma once

#include "scenarios/measure/trial_world.h"
#include "tools/flags/trial_flags.h"

#include <optional>

namespace pdsim::tools {

// A link that takes so many times the median of all is slow.
constexpr double slow_link = 2.0;

// `expect`: the least that measured speed may be of the predicted one; none: nothing is predicted. The exit status: did not hold where a
// link is slow or a collective slower than that.
int validate_pairs(const TrialFlags& flags, Trial& trial, std::optional<double> expect, Console& console);

}  // namespace pdsim::tools
