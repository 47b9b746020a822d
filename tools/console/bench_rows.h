// The rows of pdsim bench: nccl-tests' columns, or one JSON object each.
#pragma once

#include "core/measure/timing.h"
#include "tools/console/bench_raw.h"
#include "tools/console/console.h"
#include "tools/flags/nccl_tests_flags.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::tools {

constexpr int bench_json_version = 1;  // in each line; incremented when a key changes its meaning or is removed

// The subject of a table.
struct BenchTable {
  std::string world, version;  // of the library; may be empty
  int ranks = 1;
  bool simulated = false;
  std::int64_t bytes_before = 0;  // memory that the process had allocated before the first run
  RawFunctions raw{};             // called directly, beside ours
  std::vector<std::int64_t> counts{};              // of the rows, ascending
  std::vector<std::string> chosen{};               // by count: the algorithm that `auto` selects; empty: a named one
  std::optional<NcclTestsFlags::Average> shown{};  // none: from the last rank's begin to the last one's end
};

// The cost of running some rounds; simulated worlds only.
struct BenchCost {
  std::int64_t messages = 0;  // of the timed calls
  double wall_s = 0.0;        // by the clock, of the timed calls
  double cpu_s = 0.0;         // of the process, of the timed calls
  double run_wall_s = 0.0;    // of the whole run: starting ranks, joining groups, untimed calls, everything
  double messages_in(double seconds) const { return seconds > 0.0 ? static_cast<double>(messages) / seconds : 0.0; }
};

// The totals that nccl-tests prints below a table, over its rows.
struct BenchTotals {
  std::int64_t wrong = 0;
  double busbw = 0.0;  // summed
  int rows = 0, checked = 0, without_data = 0;
  void add(const BenchTable& table, const TimingRequest& request, const TimedRound& round);
};

std::int64_t peak_rss_bytes();  // of this process

std::string bench_header(const BenchTable& table, const TimingRequest& request);
// `sizes_only`: no row moves data.
std::string bench_footer(const BenchTotals& totals, bool sizes_only);
// The line below a table of the simulated world.
std::string bench_cost(const BenchTable& table, const BenchCost& total);
// `in_place` may be null: "-" in its columns.
std::string bench_row(const BenchTable& table, const TimingRequest& request, const TimedRound& out_of_place,
                      const TimedRound* in_place);
// Adds one line for each function that was called directly.
std::string bench_json(const BenchTable& table, const TimingRequest& request, const TimedRound& round,
                       const BenchCost& cost);

}  // namespace pdsim::tools
