// The rows of pdsim bench: nccl-tests' columns, or one JSON object each.
#pragma once

#include "core/trial/timing.h"
#include "tools/console.h"

#include <cstdint>
#include <string>

namespace pdsim::tools {

// What a table is about.
struct BenchTable {
  std::string world, version;  // of the library; may be empty
  int ranks = 1;
  bool simulated = false;
};

// What the run of some rounds cost; simulated worlds only.
struct BenchCost {
  std::int64_t messages = 0;
  double wall_s = 0.0;
};

std::int64_t peak_rss_bytes();  // of this process

std::string bench_header(const BenchTable& table, const TimingRequest& request);
// `in_place` may be null: "-" in its columns.
std::string bench_row(const BenchTable& table, const TimingRequest& request, const TimedRound& out_of_place,
                      const TimedRound* in_place);
std::string bench_json(const BenchTable& table, const TimingRequest& request, const TimedRound& round,
                       const BenchCost& cost);

}  // namespace pdsim::tools
