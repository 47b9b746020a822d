// Computes from its plan alone when a collective ends on each rank: no events, no queue of times.
//
//   holds   where messages do not wait for each other (sharing: none) and nothing is drawn or fails: a message then starts when
//           both its ends are posted (an eager one: its send), so its time does not depend on any order
//   equals  the exchange's times, to the picosecond
//   fails   for plans that never end, rounds of more than 64 steps, and plans that leave their buffers or their group
//   cost    O(messages), one coroutine resume for each round of each rank
//   source  the max-plus view of message passing: Hoefler, Schneider, Lumsdaine, "LogGOPSim", 2010
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/group/rank_list.h"
#include "sim/world_spec.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pdsim::sim {

// The most steps of a round that the plan engines handle: the bits of a word.
constexpr std::size_t most_steps = 64;

struct ClockedMessage {  // ranks of the group
  Rank from, to;
  std::int64_t bytes;
  Time sent, arrived;
};

struct PlanTimes {
  std::vector<Time> ends;       // by group rank
  std::vector<Time> last_sent;  // arrival of each rank's last message
  std::int64_t messages = 0;
};

struct ClockedPlan {
  const Algorithm* algorithm = nullptr;
  int ranks_per_node = 1;                                   // of the group (PlanArgs)
  std::span<const Collective* const> calls;                 // by group rank; equal except for their views
  const RankList* ranks = nullptr;                          // of the group
  std::int64_t eager_limit = 0;                             // bytes; negative: every send is eager
  Time start{};                                             // of all ranks
  std::function<void(const ClockedMessage&)> on_message{};  // may be empty
};

std::optional<PlanTimes> clock_plan(const WorldSpec& spec, const ClockedPlan& plan);

}  // namespace pdsim::sim
