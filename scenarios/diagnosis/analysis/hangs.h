// The ends of the wait graph: for every hang in a record, the ranks that others wait for and that wait for no rank themselves.
//
//   absent     the ranks did not arrive: they are in no call, or ended
//   no_record  they left no record: a lost file, a process that died. Only where no other rank is the end of the same waits
//   in_call    they are in a call that all others have left or started
//   circle     they wait for each other
//   nobody     every rank arrived, and the call does not end. Only with evidence that it should have ended, or never will: all
//             have started it, it is old, or the ranks' sends do not match their receives (split_sizes.h)
//   young      waits that began within the last seconds of the record, beside an older hang, belong to ranks that still make
//              progress
//   cost       linear in the waits
#pragma once

#include "core/group/rank_program.h"

#include <vector>

namespace pdsim::scenarios {

struct BlockedRank;

enum class HangEnd : std::uint8_t { absent, no_record, in_call, circle, nobody };

struct Hang {
  HangEnd end = HangEnd::absent;
  std::vector<Rank> ends;     // sorted
  std::vector<Rank> waiting;  // sorted: the ranks that wait for them, directly or through others
  std::vector<Rank> nearest;  // sorted: those of `waiting` that wait directly for an end; in a circle, its ranks
};

// By start time, the oldest first. `blocked` as in wait_graph.h, by rank.
std::vector<Hang> hangs_of(const RunRecord& run, const std::vector<BlockedRank>& blocked);

// The wait of this rank; null when it is not blocked.
const BlockedRank* blocked_at(const std::vector<BlockedRank>& blocked, Rank rank);

}  // namespace pdsim::scenarios
