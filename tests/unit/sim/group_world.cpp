#include "tests/unit/sim/group_world.h"

#include "core/group/init_process_group.h"

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
    auto joined = init_process_group(env);
    if (!joined.ok()) return {joined.error(), {}};
    return {body(env, *joined), {}};
  };
}

RunRecord with_group(const WorldSpec& spec, GroupBody body, const RunOptions& options) {
  return run(spec, options, in_group(std::move(body))).value();
}

RunRecord with_rank_1_away(GroupBody body) {
  return with_group(world(2), [body = std::move(body)](RankEnvironment& env, ProcessGroup& g) -> Status {
    if (env.rank == 0) return body(env, g);
    env.runtime.sleep_until(env.runtime.now() + 10_s);
    return Status{};
  });
}

MutableView view(Floats& v, std::int64_t count, DType dtype) {
  return {reinterpret_cast<std::byte*>(v.data()), dtype, count < 0 ? static_cast<std::int64_t>(v.size()) : count};
}

MutableView view(Ints& v) { return view_of(v); }

Status sum_ones(ProcessGroup& group, std::int64_t count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  PDSIM_TRY(wait(group.all_reduce(view_of(data), ReduceOp::sum)));
  for (const float x : data)
    if (x != static_cast<float>(group.size())) return Error{Code::internal, "wrong sum", {}};
  return {};
}

}  // namespace pdsim::sim
