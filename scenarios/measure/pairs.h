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
  int ranks_per_node = 0;  // of a world of several nodes with that many ranks each, one node after the other; else 0
  std::vector<std::string> hosts{};  // by rank, of a job on several hosts (in the simulated world "node 1"); else empty
  std::string failure{};  // why not all pairs were timed, as a report; empty: they were
};

// In the simulated world one message of each size, without data. Errors: what is not the ranks' doing (unavailable, limit_exceeded, io_error, cancelled).
Result<TimedPairs> time_pairs(const TrialWorld& world, PairRequest request);

}  // namespace pdsim::scenarios
