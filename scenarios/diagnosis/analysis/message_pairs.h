// Pairs sends with receives: in one group, the n-th send of a rank to a peer meets that peer's n-th receive from it; in records
// whose beginnings are lost, the n-th unfinished one meets the n-th unfinished one.
#pragma once

#include "core/group/rank_program.h"

namespace pdsim::scenarios {

struct PairRules {
  bool tags = true;  // only calls of one tag meet
  Time moment{};     // only calls made by then count
};

// The peer's call that met this one; null when the peer made none. Cost: the calls of both ranks.
const Call* met_by(const RunRecord& run, const PairRules& rules, Rank rank, const Call& call);

// Whether `theirs` is a message call of the kind that would meet `call` of this rank, tags aside.
bool could_meet(const Call& theirs, Rank rank, const Call& call);

// Whether the two have different numbers of bytes; false where one of them is not recorded.
bool differ_in_size(const Call& call, const Call& other);

}  // namespace pdsim::scenarios
