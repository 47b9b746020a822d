#include "core/group/join_world.h"

#include <utility>

namespace pdsim {

Result<JoinedWorld> join_world(RankEnvironment& env, Time timeout) {
  Result<std::unique_ptr<Store>> store = env.rendezvous.env(timeout);
  if (!store.ok()) return store.error();
  auto member = env.backend.join(**store, {"world", env.rank, env.world_size, timeout});
  if (!member.ok()) return member.error();
  JoinedWorld joined{std::move(*store), nullptr};
  joined.group = std::make_unique<ProcessGroup>("world", RankList::of_world(env.world_size), env.rank, timeout,
                                                std::move(*member), env.recorder);
  return joined;
}

}  // namespace pdsim
