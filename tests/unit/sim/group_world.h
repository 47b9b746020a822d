// Rank programs of the simulator's tests: every rank joins one group, "world", and runs a body in it.
#pragma once

#include "core/group/process_group.h"
#include "sim/run.h"

#include <functional>
#include <string>
#include <vector>

namespace pdsim::sim {

using namespace literals;
using GroupBody = std::function<Status(RankEnvironment&, ProcessGroup&)>;

WorldSpec world(int ranks, std::string backend = "gloo");
RankProgram in_group(GroupBody body);
// Runs it; the run itself must not be refused.
RunRecord with_group(const WorldSpec& spec, GroupBody body, const RunOptions& options = {});
// Two ranks on gloo, of which rank 1 calls nothing for ten seconds and ends; rank 0 runs the body.
RunRecord with_rank_1_away(GroupBody body);
using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;
// All of v, unless a count or a dtype that it has not is asked for.
MutableView view(Floats& v, std::int64_t count = -1, DType dtype = DType::f32);
MutableView view(Ints& v);
// Sums ones over the group and checks what comes back.
Status sum_ones(ProcessGroup& group, std::int64_t count);

}  // namespace pdsim::sim
