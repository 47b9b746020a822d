#include "tests/unit/sim/group_world.h"

#include <numeric>
#include <utility>
#include <vector>

namespace pdsim::sim {

WorldSpec world(int ranks, std::string backend) {
  WorldSpec spec;
  spec.ranks_per_node = ranks;
  spec.backend = std::move(backend);
  return spec;
}

RankProgram in_group(GroupBody body) {
  return [body = std::move(body)](RankEnvironment& env) -> ProgramResult {
    auto store = env.rendezvous.env(30_min);
    if (!store.ok()) return {store.error(), {}};
    JoinOptions join{"world", env.rank, env.world_size, env.backend.default_timeout()};
    auto member = env.backend.join(**store, join);
    if (!member.ok()) return {member.error(), {}};
    std::vector<Rank> ranks(static_cast<std::size_t>(env.world_size));
    std::iota(ranks.begin(), ranks.end(), 0);
    ProcessGroup group("world", ranks, env.rank, join.timeout, std::move(*member), env.recorder);
    return {body(env, group), {}};
  };
}

RunRecord with_group(const WorldSpec& spec, GroupBody body, const RunOptions& options) {
  return run(spec, options, in_group(std::move(body))).value();
}

Status sum_ones(ProcessGroup& group, std::int64_t count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  PDSIM_TRY(wait(group.all_reduce({reinterpret_cast<std::byte*>(data.data()), DType::f32, count}, ReduceOp::sum)));
  for (const float x : data)
    if (x != static_cast<float>(group.size())) return Error{Code::internal, "wrong sum", {}};
  return {};
}

}  // namespace pdsim::sim
