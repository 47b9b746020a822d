// Times every pair of ranks of a world, in classes of links that should take the same time.
#pragma once

#include "core/measure/pairs.h"
#include "scenarios/measure/trial_world.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// Links that should take the same time: within a node, between nodes, through the spine of a tree ...
struct LinkClass {
  std::string name;
  std::int64_t pairs = 0;
  std::vector<Time> median;  // by size
  LinkFit fit;               // of the median
};

struct TimedPairs {
  std::vector<std::int64_t> bytes;  // the sizes
  std::vector<PairTimes> pairs;     // link_class: of `classes`
  std::vector<LinkClass> classes;
  int ranks_per_node = 0;  // for several nodes with this many ranks each, in consecutive order; else 0
  std::vector<std::string> hosts{};  // by rank, for a job on several hosts (in the simulated world "node 1"); else empty
  std::string failure{};  // why some pairs were not timed, as a report; empty: all were
};

// In the simulated world one message of each size, without data. Errors: those that the ranks did not cause (unavailable,
// limit_exceeded, io_error, cancelled).
Result<TimedPairs> time_pairs(const TrialWorld& world, PairRequest request);

}  // namespace pdsim::scenarios
