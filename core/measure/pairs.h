// Timing of every pair of ranks: messages back and forth between two ranks at several sizes, one pair after the other while the others
// wait at a barrier; and what follows: latency and bandwidth of each link, and which links are slow beside the others.
//
//   time     half of a round trip, the least of several averages: what disturbs a machine only adds
//   cost     p(p-1)/2 pairs, each `iterations` + `warmup` round trips of every size
//   errors   the first one ends the program
#pragma once

#include "core/base/quantity.h"
#include "core/group/rank_program.h"

#include <cstdint>
#include <vector>

namespace pdsim {

struct PairRequest {
  std::vector<std::int64_t> bytes{8, 1024, 64 << 10, 1 << 20};  // ascending, at least two
  int iterations = 50;
  int warmup = 5;
  Time timeout{60'000'000'000'000};
};

// A message of n bytes takes latency + n / bandwidth. No bandwidth (0): long messages took no longer than short ones.
struct LinkFit {
  Time latency{};
  Rate bandwidth{};
  Time of(std::int64_t bytes) const { return latency + transfer_time(Bytes{bytes}, bandwidth); }
};

struct PairTimes {
  Rank a = 0, b = 0;          // a < b
  std::vector<Time> one_way;  // by size, as in the request
  LinkFit fit;
  double slowness = 1.0;  // the worst of its times, as a multiple of the median over the pairs at that size
};

// `request` must outlive the program. Its times are in the values it ends with; pair_times() reads them.
RankProgram pair_program(const PairRequest& request);

// All pairs, by a and then b; those that some rank did not end are left out.
std::vector<PairTimes> pair_times(const PairRequest& request, const std::vector<RankResult>& ranks);

// Least squares of the relative errors, so that small sizes count as much as large ones; neither part is negative. `bytes` ascend. What
// disturbs a machine only adds, so a message counts as no slower than any longer one.
LinkFit fit_link(const std::vector<std::int64_t>& bytes, std::vector<Time> times);

// The link of the median pair: its median time at each size, fitted.
LinkFit median_link(const PairRequest& request, const std::vector<PairTimes>& pairs);

}  // namespace pdsim
