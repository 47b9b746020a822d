// A simulated world fitted to a measured one: the parameters of LogGP, from two timed collectives and the links between pairs.
//
//   o   overhead: from one short message to the next, of many sent at once between two ranks; the median pair's
//   L, G  latency and bandwidth: of a ring all_gather, whose ranks all send and receive at the same time; a round is L + 2 o + n
//         G, and longer where ranks share cores. A world of two levels has those of the median pair within a node, and
//         of the median pair between nodes, or the ring's where the links between nodes differ
//   cores  the machine's, where all ranks are on one machine with fewer than two cores for each
//   reduce_bandwidth  from a ring reduce_scatter, which sends the same messages and combines them
//   source  Alexandrov, Ionescu, Schauser, Scheiman, "LogGP", 1995
#pragma once

#include "scenarios/measure/pairs.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct FittedWorld {
  sim::WorldSpec spec;
  std::string failure;  // why a call did not end, as a report; empty: all did
};

// Times the two collectives. Errors: as for time().
Result<FittedWorld> fit_world(const TrialWorld& world, const TimedPairs& pairs);

// The spec as a scenario's `world:`.
std::string world_text(const sim::WorldSpec& spec);

// The predicted times of the request in the fitted world, on its slowest rank; out of place, by count.
Result<std::vector<Time>> predict(const sim::WorldSpec& fitted, const TimingRequest& request);

// Times a request several times over, and keeps the least of each count on the slowest rank, since disturbances only add time.
struct LeastTimes {
  std::vector<Time> times;  // by count
  std::string failure;
};
Result<LeastTimes> time_least(const TrialWorld& world, const TimingRequest& request);

}  // namespace pdsim::scenarios
