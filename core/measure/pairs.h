// Times every pair of ranks at several sizes, and derives the latency and bandwidth of each link and the links that are slow
// compared to others of their class.
//
//   real clocks    messages back and forth; half of a round trip, the least of several averages, since disturbances only add
//                  time. Concurrent pairs share no node's port (pair_slots.h); a barrier before each slot
//   virtual time   one message one way, pair after pair, each at a time of its own: nothing disturbs it, and waiting costs
//                  nothing
//   cost           p(p-1)/2 pairs, each `iterations` + `warmup` round trips of every size; in virtual time one message of every
//                  size
//   errors         the first one ends the program
#pragma once

#include "core/base/quantity.h"
#include "core/group/rank_program.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pdsim {

struct PairRequest {
  std::vector<std::int64_t> bytes{8, 1024, 64 << 10, 1 << 20};  // ascending, at least two
  int iterations = 50;
  int warmup = 5;
  // More than zero: clocks are virtual, and every message has a slot of this length. Must be longer than any message.
  Time align{};
  bool moves_data = true;
  Time timeout{60'000'000'000'000};
};

// A message of n bytes takes latency + n / bandwidth. Bandwidth 0: long messages took no longer than short ones.
struct LinkFit {
  Time latency{};
  Rate bandwidth{};
  Time of(std::int64_t bytes) const { return latency + transfer_time(Bytes{bytes}, bandwidth); }
};

struct PairTimes {
  Rank a = 0, b = 0;          // a < b
  Time gap{};                 // between two short messages, of many sent at once; zero in virtual time
  std::vector<Time> one_way{};  // by size, as in the request
  LinkFit fit{};
  double slowness = 1.0;  // its worst time, as a multiple of the median over the pairs of its class at that size
  int link_class = 0;
};

// `request` must outlive the program. Its times are in the values it returns; pair_times() reads them.
RankProgram pair_program(const PairRequest& request);

// By rank, a number that identifies its node; empty where a rank ended before it reported it.
std::vector<std::int64_t> pair_nodes(const std::vector<RankResult>& ranks);

// By rank, the name of its host; empty where a rank ended before it reported it.
std::vector<std::string> pair_hosts(const std::vector<RankResult>& ranks);

// All pairs, by a and then b, in one class; without pairs that a rank did not finish.
std::vector<PairTimes> pair_times(const PairRequest& request, const std::vector<RankResult>& ranks);

// Least squares of the relative errors, so that small sizes weigh as much as large ones; neither part is negative. `bytes`
// ascend. Since disturbances only add time, a message counts as no slower than any longer one.
LinkFit fit_link(const std::vector<std::int64_t>& bytes, std::vector<Time> times);

// Sets the class of each pair, and its slowness within it. `class_of` counts from 0.
void classify(const PairRequest& request, std::vector<PairTimes>& pairs,
              const std::function<int(const PairTimes&)>& class_of);

// The median times of a class by size; empty for a class without pairs.
std::vector<Time> median_times(const PairRequest& request, const std::vector<PairTimes>& pairs, int link_class);

// The link of the median pair of a class: its median time at each size, fitted.
LinkFit median_link(const PairRequest& request, const std::vector<PairTimes>& pairs, int link_class = 0);

}  // namespace pdsim
