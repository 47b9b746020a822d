// Joins the group of all ranks, as init_process_group does: for rank programs that are no scenario.
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"

#include <memory>

namespace pdsim {

struct JoinedWorld {
  std::unique_ptr<Store> store;  // outlives the group
  std::unique_ptr<ProcessGroup> group;
};

// `timeout` of the rendezvous and of the group. Blocks; errors are those of Rendezvous::env and Backend::join.
Result<JoinedWorld> join_world(RankEnvironment& env, Time timeout);

}  // namespace pdsim
