#include "core/group/join_world.h"

#include <numeric>
#include <utility>
#include <vector>

namespace pdsim {

Result<JoinedWorld> join_world(RankEnvironment& env, Time timeout) {
  Result<std::unique_ptr<Store>> store = env.rendezvous.env(timeout);
  if (!store.ok()) return store.error();
  auto member = env.backend.join(**store, {"world", env.rank, env.world_size, timeout});
  if (!member.ok()) return member.error();
  std::vector<Rank> ranks(static_cast<std::size_t>(env.world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  JoinedWorld joined{std::move(*store), nullptr};
  joined.group =
      std::make_unique<ProcessGroup>("world", std::move(ranks), env.rank, timeout, std::move(*member), env.recorder);
  return joined;
}

}  // namespace pdsim
