#include "tests/unit/sim/group_world.h"

#include "core/group/join_world.h"

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
    auto joined = join_world(env, env.backend.default_timeout());
    if (!joined.ok()) return {joined.error(), {}};
    return {body(env, *joined->group), {}};
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
