// init_process_group: joins the group of all ranks, as torch.distributed.init_process_group does with env://.
//
//   Result<ProcessGroup> group = init_process_group(env);
//   if (!group.ok()) return {group.error()};
//   std::array<float, 4> data{1, 2, 3, 4};
//   const Status summed = wait(group->all_reduce(view_of(data), ReduceOp::sum));
//
//   env      given by a world to its rank program: by sim::run, or by run_rank in the process of a real library
//   blocks   until the rendezvous store answers and, with some libraries, until every rank has joined
//   errors   those of Rendezvous::env and Backend::join
#pragma once

#include "core/group/process_group.h"
#include "core/group/rank_program.h"

namespace pdsim {

Result<ProcessGroup> init_process_group(RankEnvironment& env);
// `timeout` applies to the rendezvous and to the group, instead of the backend's default.
Result<ProcessGroup> init_process_group(RankEnvironment& env, Time timeout);

}  // namespace pdsim
