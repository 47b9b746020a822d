// Chooses pairs of ranks to time concurrently: pairs that share neither a rank nor a node's port, so that none disturbs another.
//
//   within nodes    one pair of each node at a time, on all nodes at once
//   between nodes   a round-robin tournament of the nodes; two nodes that meet time their pairs one after the other
//   cost            n nodes with r ranks each: r(r-1)/2 + (n-1) r r slots, one more round where n is odd
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdsim {

struct RankPair {
  Rank a = 0, b = 0;  // a < b
  bool operator==(const RankPair&) const = default;
};

// `nodes` holds, by rank, a number that identifies its node. Every pair is in one slot.
std::vector<std::vector<RankPair>> pair_slots(std::span<const std::int64_t> nodes);

// The number of pairs before (a, b), ordered by a and then b, in a world of `size` ranks.
constexpr std::int64_t place_of_pair(RankPair pair, int size) {
  return std::int64_t{pair.a} * (2 * std::int64_t{size} - pair.a - 1) / 2 + (pair.b - pair.a - 1);
}

}  // namespace pdsim
