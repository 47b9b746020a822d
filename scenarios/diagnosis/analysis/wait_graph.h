// Who waits for whom: every blocked rank, the ranks it waits for, and the circle if there is one.
//
//   barrier, all_*     all members that have not made the same call (operation and sequence number)
//   broadcast, scatter the root; the root itself, whose sends are rendezvous, its receivers
//   reduce, gather     the root for all members; the others for the root
//   send, recv         the one peer; a receive from any source one of all others
//   store              one of the ranks that have not set the key
//   every member came  a message is missing, nobody recorded whose: one of the members whose call is open too
//   a dump of PyTorch  every member arrived: those that are still in an earlier call, or have not started it where others have; else nobody.
//                      What is not listed has come where the rank's own account of the group says so, or where another rank's call is
//                      done that needs all. A batch of messages waits for each of its peers
//   listed             all, in lists that those who wait in one call share; in worlds where thousands of calls lack thousands of ranks
//                      each, the first of each list, and `unlisted` counts the others
//   cost               one walk over all calls, and O(members) per call that somebody waits in, 2^21 ranks in all
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

// The ranks that sit in something at `moment` (Time::max(): the end of the record), by rank. A rank that is only between
// calls or computes is not blocked, unless `everyone` says that no rank can make progress.
std::vector<BlockedRank> blocked_ranks(const RunRecord& run, Time moment, bool everyone);

// The ranks that this one waits for, without itself: at most `most`.
std::vector<Rank> awaited_ranks(const BlockedRank& blocked, std::size_t most = SIZE_MAX);
// How many there are.
std::size_t awaited_count(const BlockedRank& blocked);
// "ranks 0..7"; of very many the first, and how many more.
std::string awaited_text(const BlockedRank& blocked);

// Whether a rank waits for one of these (sorted); each list of ranks is looked through once, however many share it.
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
