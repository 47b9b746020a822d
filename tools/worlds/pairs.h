// Implements `validate --pairs` and `--expect`: times every link, names the slow ones, and compares collectives with the network
// formed by the links.
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

// `expect`: the smallest acceptable ratio of measured to predicted speed; none: nothing is predicted. Returns the exit status:
// did not hold where a link is slow or a collective slower than that.
int validate_pairs(const TrialFlags& flags, const PairFlags& pairs, Trial& trial, Console& console);

}  // namespace pdsim::tools
