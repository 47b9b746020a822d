// store_set, store_get, store_add, store_wait: the store that init opened.
#include "scenarios/program/operations.h"

#include <fmt/format.h>

#include <span>
#include <string>

namespace pdsim::scenarios::operations {
namespace {

Status needs_store(const Session& s, const Operation& op) {
  if (s.store != nullptr) return {};
  if (s.group_destroyed)
    return Error{Code::group_destroyed,
                 fmt::format("{}: the store was let go when the process group was destroyed", op.name),
                 {{"in", op.name}}};
  return Error{
      Code::not_initialized,
      fmt::format("{} needs the store of init_process_group, and this rank has called no init_process_group before it",
                  op.name),
      {{"in", op.name}}};
}

}  // namespace

Status store_set(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreSetOptions>();
  return s.store->set(options.key, options.value);
}

Status store_add(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreAddOptions>();
  return s.store->add(options.key, options.by).status();
}

Status store_get(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreGetOptions>();
  const Time before = s.store->timeout();
  s.store->set_timeout(options.timeout.value_or(before));
  const Status status = s.store->get(options.key).status();
  s.store->set_timeout(before);
  return status;
}

Status store_wait(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const auto& options = op.as<StoreGetOptions>();
  return s.store->wait(std::span(&options.key, 1), options.timeout.value_or(s.store->timeout()));
}

}  // namespace pdsim::scenarios::operations
