// Rank programs over one group, for tests of real worlds. Each returns an error where something is not as it must be.
//
//   any_source     rank 0 receives the first message to come, and learns its sender
//   tags           messages with other tags overtake
//   long_message   rank 1 receives less than rank 0 sends
//   subgroups      overlapping groups, each with a sum of its own
//   plan_timeout   plans that wait for a rank in vain, one after the other
//   large_plan_timeout   one whose messages are too large to be sent ahead, and what comes after
//   native_alone   the same with the library's own all_reduce: it waits until somebody ends it
//   destroyed      the group is destroyed while an operation runs
//   dies, hangs    rank 1 does, while the others sum
//   alone          every rank joins a group of itself
//   sharded        sharded and split models end as those under DDP do (sharded_programs.h); of four ranks
//   own_algorithms wrong algorithms of the caller's own are refused, and without a proof end in an error where they leave a buffer
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"

#include <string_view>

namespace pdsim {

using GroupProgram = Status (*)(RankEnvironment& env, Store& store, ProcessGroup& world);

// Null: there is none of that name.
GroupProgram group_program(std::string_view name);

}  // namespace pdsim
