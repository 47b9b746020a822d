// Rank programs of the simulator's tests: every rank joins one group, "world", and runs a body in it.
#pragma once

#include "core/group/process_group.h"
#include "sim/run.h"

#include <functional>
#include <string>

namespace pdsim::sim {

using namespace literals;
using GroupBody = std::function<Status(RankEnvironment&, ProcessGroup&)>;

WorldSpec world(int ranks, std::string backend = "gloo");
RankProgram in_group(GroupBody body);
// Runs it; the run itself must not be refused.
RunRecord with_group(const WorldSpec& spec, GroupBody body, const RunOptions& options = {});
// Sums ones over the group and checks what comes back.
Status sum_ones(ProcessGroup& group, std::int64_t count);

}  // namespace pdsim::sim
