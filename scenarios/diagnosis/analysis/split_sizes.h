// Compares the ranks' sends in an all_to_all with the receives they make room for.
//
//   pairs   for calls that list their parts: one rank's sends to another must equal that one's receives from it
//   sums    for calls with only their sums, as in dumps of PyTorch: all sends together must equal all receives
#pragma once

#include "core/group/rank_program.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

// One collective's calls by rank; null: the rank did not make it.
using RankCalls = std::vector<std::pair<Rank, const Call*>>;

struct SplitMismatch {
  std::int64_t sent = 0, expected = 0;       // of the pair, or of all ranks
  Rank from = no_rank, to = no_rank;         // of the first mismatched pair; no_rank where only the sums are known
  std::vector<Rank> in_all_pairs;            // ranks in every mismatched pair; one, where only it is wrong
  std::int64_t pairs = 0;
};

// `calls`: those of all members in the order of the group's ranks. Nothing where the sizes match, or
// the record lacks them.
std::optional<SplitMismatch> split_mismatch(const RankCalls& calls);

}  // namespace pdsim::scenarios
