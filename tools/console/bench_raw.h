// The columns of pdsim bench --raw: the library called directly, alternating with pdsim's calls, and the ratio of their times.
#pragma once

#include "core/measure/timing.h"

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {

using RawFunctions = std::vector<std::string>;  // by form; empty: nothing is called directly

// Two lines of column heads, without their ends.
struct RawHeads {
  std::string functions, names, units;
};
RawHeads raw_heads(const RawFunctions& functions);
std::string raw_columns(const RawFunctions& functions, const TimedRound& out_of_place, const TimedRound* in_place);

// The ratio of pdsim's time to the library's.
double raw_ratio(Time ours, Time raw);

// The ratios of one table, summarised below it; empty without functions.
class RawRatios {
 public:
  void add(const TimedRound& round);
  std::string footer(const RawFunctions& functions) const;

 private:
  std::vector<TimedRound> rounds_;
};

}  // namespace pdsim::tools
