// Measures step time against the cap of DDP's buckets: runs the same scenario once for each cap, in the simulated
// world.
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"
#include "scenarios/language/scenario.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pdsim::tools {

struct SweepPoint {
  Bytes cap;
  std::size_t buckets = 0;  // at the end
  Time step{};              // the last of the train, of its slowest rank
  Time communication{};     // from the first bucket's start to the end of the last, in that step, of rank 0
  Time exposed{};           // the part of it after the end of backward
};

// Runs the scenario as if the user had given each cap. Errors: input_invalid for a scenario without DDP or train, or
// one that does not end well with a cap; else those of the run.
Result<std::vector<SweepPoint>> sweep_caps(const scenarios::Scenario& scenario, const std::vector<Bytes>& caps);

std::string sweep_text(const std::string& title, const std::vector<SweepPoint>& points);
// Draws a line through the points: the caps on a logarithmic scale, the step time upwards.
std::string sweep_svg(const std::string& title, const std::vector<SweepPoint>& points);

}  // namespace pdsim::tools
