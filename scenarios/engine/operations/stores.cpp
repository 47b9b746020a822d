// store_set, store_get, store_add, store_wait: the store that init opened.
#include "scenarios/engine/operations/operations.h"

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
  return Error{Code::not_initialized,
               fmt::format("{} needs the store of init, and this rank has called no init before it", op.name),
               {{"in", op.name}}};
}

Result<Time> timeout_of(const Session& s, const Operation& op) {
  const std::string given = op.text("timeout", "");
  return given.empty() ? Result<Time>(s.store->timeout()) : parse_time(given);
}

}  // namespace

Status store_set(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  return s.store->set(op.text("key", ""), op.text("value", ""));
}

Status store_add(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  return s.store->add(op.text("key", ""), op.integer("by", 1)).status();
}

Status store_get(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const Result<Time> timeout = timeout_of(s, op);
  if (!timeout.ok()) return timeout.error();
  const Time before = s.store->timeout();
  s.store->set_timeout(*timeout);
  const Status status = s.store->get(op.text("key", "")).status();
  s.store->set_timeout(before);
  return status;
}

Status store_wait(Session& s, const Operation& op) {
  PDSIM_TRY(needs_store(s, op));
  const Result<Time> timeout = timeout_of(s, op);
  if (!timeout.ok()) return timeout.error();
  const std::string key = op.text("key", "");
  return s.store->wait(std::span(&key, 1), *timeout);
}

}  // namespace pdsim::scenarios::operations
