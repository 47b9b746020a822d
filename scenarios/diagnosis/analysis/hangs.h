// The ends of the wait graph: for every hang in a record the ranks that others wait for and that wait for nobody.
//
//   absent     they did not come: they are in no call, or ended
//   no_record  there is none of them: a lost file, a process that died. Only where nobody else is the end of the same waits
//   in_call    they sit in a call that all others have left or started
//   circle     they wait for each other
//   nobody     every rank came, and the call does not end. Only with evidence that it should have, or never will: all
//             have started it, it is old, or what they send is not what they make room for (split_sizes.h)
//   young      waits that began within the last seconds of the record, beside a hang that is older, are those of ranks that go on
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
  std::vector<Rank> waiting;  // sorted: who waits for them, and who waits for those, and so on
  std::vector<Rank> nearest;  // sorted: of `waiting` those that wait for an end itself; of a circle its ranks
};

// By when they began, the oldest first. `blocked` as wait_graph.h has it, by rank.
std::vector<Hang> hangs_of(const RunRecord& run, const std::vector<BlockedRank>& blocked);

// Where this rank waits; null when it is not blocked.
const BlockedRank* blocked_at(const std::vector<BlockedRank>& blocked, Rank rank);

}  // namespace pdsim::scenarios
