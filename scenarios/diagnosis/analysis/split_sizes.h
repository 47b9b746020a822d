// What the ranks of an all_to_all send against what they make room for.
//
//   pairs   of calls that list their parts: what one rank sends to another is what that one receives from it
//   sums    of calls that know their sums alone, as dumps of PyTorch do: what all send is what all receive
#pragma once

#include "core/group/rank_program.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

struct SplitMismatch {
  std::int64_t sent = 0, expected = 0;       // of the pair, or of all ranks
  Rank from = no_rank, to = no_rank;         // of the first pair that does not fit; no_rank where only the sums are known
  std::vector<Rank> in_all_pairs;            // ranks that every pair that does not fit has; one, where only it is wrong
  std::int64_t pairs = 0;
};

// `calls`: of all members in the order of the group's ranks; null of one that did not come. Nothing where the sizes fit, or the record
// does not have them.
std::optional<SplitMismatch> split_mismatch(const std::vector<std::pair<Rank, const Call*>>& calls);

}  // namespace pdsim::scenarios
