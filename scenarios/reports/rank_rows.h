// Which ranks a picture shows in which row: ranks that made the same calls may share one.
//
//   same     the same calls in the same order, as far, in the same groups, with the same numbers, purposes and steps; times and peers
//            may differ. Ranks that the diagnosis names, that a fault struck or that did not end well share no row with others
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

struct RankRow {
  Rank shown = 0;           // whose calls the row shows: the first of its ranks
  std::vector<Rank> ranks;  // ascending
};

// A row for each rank.
std::vector<RankRow> rows_apart(const Report& report);

// A row for all ranks that made the same calls; by first rank.  cost: the calls of all ranks, hashed once
std::vector<RankRow> rows_together(const Report& report);

}  // namespace pdsim::scenarios
