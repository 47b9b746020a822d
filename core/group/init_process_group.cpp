#include "core/group/init_process_group.h"

#include <memory>
#include <utility>

namespace pdsim {

Result<ProcessGroup> init_process_group(RankEnvironment& env) {
  return init_process_group(env, env.backend.default_timeout());
}

Result<ProcessGroup> init_process_group(RankEnvironment& env, Time timeout) {
  Result<std::unique_ptr<Store>> store = env.rendezvous.env(timeout);
  if (!store.ok()) return store.error();
  auto communicator = env.backend.join(**store, {"world", env.rank, env.world_size, timeout});
  if (!communicator.ok()) return communicator.error();
  ProcessGroup group("world", RankList::of_world(env.world_size), env.rank, timeout, std::move(*communicator), env.recorder);
  group.keep(std::move(*store));
  return group;
}

}  // namespace pdsim
