// The wait graph: every blocked rank, the ranks it waits for, and the circle if there is one.
//
//   barrier, all_*     all members that have not made the same call (operation and sequence number)
//   broadcast, scatter the root; the root itself, whose sends are rendezvous, its receivers
//   reduce, gather     the root for all members; the others for the root
//   send, recv         the one peer; a receive from any source one of all others
//   store              one of the ranks that have not set the key
//   every member came  a message is missing, and no record says whose: one of the members whose call is open too
//   a dump of PyTorch  every member arrived: those that are still in an earlier call, or have not started it where others have;
//                      else none. An unlisted call counts as made where the rank's own account of the group says so, or where
//                      another rank's call that needs all is done. A batch of messages waits for each of its peers
//   listed             all, in lists shared by the ranks that wait in one call; in worlds where thousands of calls lack thousands
//                      of ranks each, the first of each list, and `unlisted` counts the others
//   cost               one pass over all calls, and O(members) per call with a waiting rank, 2^21 ranks in all
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

// The ranks blocked in a call at `moment` (Time::max(): the end of the record), by rank. A rank that is only between calls or
// computes is not blocked, unless `everyone` says that no rank can make progress.
std::vector<BlockedRank> blocked_ranks(const RunRecord& run, Time moment, bool everyone);

// The ranks that this one waits for, without itself: at most `most`.
std::vector<Rank> awaited_ranks(const BlockedRank& blocked, std::size_t most = SIZE_MAX);
// Their number.
std::size_t awaited_count(const BlockedRank& blocked);
// "ranks 0..7"; for a very long list the first ranks, and the number of the others.
std::string awaited_text(const BlockedRank& blocked);

// Tells whether a rank waits for one of these (sorted); each list of ranks is searched once, however many ranks share it.
class WaitsForOne {
 public:
  explicit WaitsForOne(std::vector<Rank> sorted) : of_(std::move(sorted)) {}
  bool operator()(const BlockedRank& blocked);

 private:
  struct Found {
    Rank first = no_rank;
    bool more = false;
  };
  std::vector<Rank> of_;
  std::map<const void*, Found> known_;
};

}  // namespace pdsim::scenarios
