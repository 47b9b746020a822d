// What `validate --pairs` and `--expect` do: time every link, name the slow ones, and compare collectives with the network that the
// links make.
#pragma once

#include "scenarios/measure/trial_world.h"
#include "tools/flags/trial_flags.h"

#include <optional>
#include <string>

namespace pdsim::tools {

struct PairFlags {
  bool pairs = false;
  std::optional<double> expect;
  std::string svg;  // a file for the heat map; empty: none
};

// `expect`: the least that measured speed may be of the predicted one; none: nothing is predicted. The exit status: did not hold where a
// link is slow or a collective slower than that.
int validate_pairs(const TrialFlags& flags, const PairFlags& pairs, Trial& trial, Console& console);

}  // namespace pdsim::tools
