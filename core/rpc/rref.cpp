#include "core/rpc/rref.h"

#include <fmt/format.h>

namespace pdsim {

std::string to_string(RpcId id) {
  return fmt::format("GloballyUniqueId(created_on={}, local_id={})", id.created_on, id.local_id);
}

std::string RRef::text() const {
  if (state_->is_owner) return fmt::format("OwnerRRef(rref_id={})", to_string(state_->rref));
  return fmt::format("UserRRef(rref_id={}, fork_id={})", to_string(state_->rref), to_string(state_->fork));
}

}  // namespace pdsim
