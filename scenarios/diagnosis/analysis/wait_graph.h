// Who waits for whom: every blocked rank, the ranks it waits for, and the circle if there is one.
//
//   barrier, all_*     all members that have not made the same call (operation and sequence number)
//   broadcast, scatter the root; the root itself, whose sends are rendezvous, its receivers
//   reduce, gather     the root for all members; the others for the root
//   send, recv         the one peer; a receive from any source one of all others
//   store              one of the ranks that have not set the key
//   every member came  a message is missing, nobody recorded whose: one of the members whose call is open too
//   a dump of PyTorch  every member came: those that are still in an earlier call, or have not started it where others have; else nobody.
//                      What is not listed has come where the rank's own account of the group says so, or where another rank's call is
//                      done that needs all. A batch of messages waits for each of its peers
//   listed             at most `most_listed` ranks for each
//   cost               O(ranks) per group and sequence number to find who is missing, plus what is listed
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios {

// Each blocked rank lists at most this many ranks that it waits for: in a world of 10^5, half of it missing, nobody reads more.
inline constexpr std::size_t most_listed = 1024;

// The ranks that sit in something at `moment` (Time::max(): the end of the record), by rank. A rank that is only between
// calls or computes is not blocked, unless `everyone` says that no rank can make progress.
std::vector<BlockedRank> blocked_ranks(const RunRecord& run, Time moment, bool everyone);

// The shortest circle of ranks that wait for each other, through the smallest rank; empty when there is none.
// Who waits for one of several is in no circle.
std::vector<Rank> wait_cycle(const std::vector<BlockedRank>& blocked);

// The ranks that can never go on, whatever the others do: released are those that wait for nobody, then those all (or,
// for `any`, one) of whose waits are released. `finished` never release anybody.
std::vector<Rank> never_released(const std::vector<BlockedRank>& blocked, const std::vector<Rank>& finished, int ranks);

}  // namespace pdsim::scenarios
