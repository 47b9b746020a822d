// Assigns ranks to the rows of a picture: ranks that made the same calls may share one.
//
//   same     the same calls in the same order, equally far, in the same groups, with the same numbers, purposes and steps; times
//            and peers may differ. Ranks that one finding names share a row only with others that it names; a rank struck by a
//            fault has its own
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstddef>
#include <vector>

namespace pdsim::scenarios {

struct RankRow {
  Rank shown = 0;           // the rank whose calls the row shows: the first of its ranks
  std::vector<Rank> ranks;  // ascending
};

// By first rank: a row for each rank, or beyond `most_apart` ranks one for all that made the same calls.
//   cost     the calls of all ranks, hashed once
std::vector<RankRow> rank_rows(const Report& report, std::size_t most_apart);

// The rank that each row shows.
std::vector<Rank> shown_ranks(const std::vector<RankRow>& rows);

}  // namespace pdsim::scenarios
