#include "core/rpc/rref_table.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace pdsim {

std::shared_ptr<RRef::State> RRefTable::make_state(RpcId rref, RpcId fork, std::int64_t owner) {
  auto state = std::make_shared<RRef::State>();
  state->rref = rref;
  state->fork = fork;
  state->owner = owner;
  state->owner_name = names_[static_cast<std::size_t>(owner)];
  state->is_owner = owner == self_;
  state->last_handle_gone = [table = weak_from_this()](RRef::State& gone) {
    const std::shared_ptr<RRefTable> alive = table.lock();
    if (alive == nullptr) return;
    if (gone.is_owner)
      alive->drop_if_unused(gone.rref);
    else
      alive->user_gone(gone.fork);
  };
  return state;
}

RRef RRefTable::create(std::int64_t owner) {
  const RpcId rref = next_id();
  if (owner == self_) {
    owners_[rref];
    return owned_handle(rref);
  }
  const RpcId fork = next_id();
  const auto state = make_state(rref, fork, owner);
  users_[fork] = {.rref = rref, .owner = owner, .state = state};
  return RRef(state);
}

RRef RRefTable::owned_handle(RpcId rref) {
  Owner& owner = owners_[rref];
  std::shared_ptr<RRef::State> state = owner.handle.lock();
  if (state == nullptr) owner.handle = state = make_state(rref, {}, self_);
  return RRef(state);
}

void RRefTable::expect(RpcId rref, RpcId user) {
  Owner& owner = owners_[rref];
  if (user != RpcId{}) owner.forks.insert(user);
}

void RRefTable::set_value(RpcId rref, Result<RpcValue> value) {
  const auto found = owners_.find(rref);
  if (found == owners_.end()) return;
  found->second.value = std::move(value);
  const Result<RpcValue> kept = *found->second.value;
  for (const auto& then : std::exchange(found->second.waiting, {})) then(kept);
  drop_if_unused(rref);
}

void RRefTable::when_ready(RpcId rref, std::function<void(const Result<RpcValue>&)> then) {
  const auto found = owners_.find(rref);
  if (found == owners_.end())
    return then(Error{Code::invalid_argument,
                      fmt::format("{} has no value of RRef {}: its last user has gone",
                                  names_[static_cast<std::size_t>(self_)], to_string(rref)),
                      {}});
  if (!found->second.value) return found->second.waiting.push_back(std::move(then));
  const Result<RpcValue> kept = *found->second.value;
  then(kept);
}

const Result<RpcValue>* RRefTable::value(RpcId rref) const {
  const auto found = owners_.find(rref);
  return found != owners_.end() && found->second.value ? &*found->second.value : nullptr;
}

RpcForks RRefTable::forks_with(std::int64_t peer) {
  return {[this, peer](const RRef& rref) { return fork_for(peer, rref); },
          [this](const RRefFork& fork) { return receive(fork); }};
}

RRefFork RRefTable::fork_for(std::int64_t peer, const RRef& rref) {
  RRefFork fork{rref.id(), {}, rref.owner(), self_};
  if (peer == rref.owner()) return fork;  // it has the value itself
  fork.fork = next_id();
  if (rref.is_owner())
    owners_[rref.id()].forks.insert(fork.fork);
  else
    passing_[fork.fork] = {rref.shared_state(), peer};
  return fork;
}

RRef RRefTable::receive(const RRefFork& fork) {
  const auto in_world = [this](std::int64_t worker) {
    return worker >= 0 && worker < static_cast<std::int64_t>(names_.size());
  };
  if (!in_world(fork.owner) || !in_world(fork.parent)) return {};
  if (fork.owner == self_) return owned_handle(fork.rref);
  const auto state = make_state(fork.rref, fork.fork, fork.owner);
  User user{.rref = fork.rref, .owner = fork.owner, .parent = fork.parent, .state = state};
  const bool made_by_owner = fork.parent == fork.owner;
  user.confirmed = state->confirmed = made_by_owner;
  users_[fork.fork] = user;
  if (!made_by_owner) tell(fork.owner, RpcMessageKind::fork_request, fork.rref, fork.fork);
  return RRef(state);
}

void RRefTable::tell(std::int64_t to, RpcMessageKind kind, RpcId rref, RpcId fork) {
  RpcMessage message;
  message.kind = kind;
  message.rref = rref;
  message.fork = fork;
  send_(to, message);
}

bool RRefTable::handle(std::int64_t from, const RpcMessage& m) {
  switch (m.kind) {
    case RpcMessageKind::fork_request:
      owners_[m.rref].forks.insert(m.fork);
      tell(from, RpcMessageKind::fork_accept, m.rref, m.fork);
      return true;
    case RpcMessageKind::fork_accept: {
      const auto user = users_.find(m.fork);
      if (user != users_.end()) tell(user->second.parent, RpcMessageKind::child_accept, m.rref, m.fork);
      confirm(m.fork);
      return true;
    }
    case RpcMessageKind::child_accept: {
      const auto kept = passing_.find(m.fork);
      if (kept == passing_.end()) return true;
      const Passing last = std::move(kept->second);
      passing_.erase(kept);
      if (on_change) on_change();
      return true;
    }
    case RpcMessageKind::delete_user: {
      const auto owner = owners_.find(m.rref);
      if (owner == owners_.end()) return true;
      owner->second.forks.erase(m.fork);
      drop_if_unused(m.rref);
      return true;
    }
    default:
      return false;
  }
}

void RRefTable::confirm(RpcId fork) {
  const auto user = users_.find(fork);
  if (user == users_.end()) return;
  user->second.confirmed = true;
  if (const auto state = user->second.state.lock()) state->confirmed = true;
  if (user->second.gone) tell_owner(fork);
  if (on_change) on_change();
}

void RRefTable::worker_gone(std::int64_t worker) {
  std::erase_if(users_, [worker](const auto& user) { return user.second.owner == worker; });
  std::map<RpcId, Passing> last;
  for (auto at = passing_.begin(); at != passing_.end();) {
    const auto next = std::next(at);
    if (at->second.to == worker || at->second.parent->owner == worker) last.insert(passing_.extract(at));
    at = next;
  }
  if (on_change) on_change();
}

void RRefTable::user_gone(RpcId fork) {
  const auto user = users_.find(fork);
  if (user == users_.end()) return;
  user->second.gone = true;
  if (user->second.confirmed) tell_owner(fork);
}

void RRefTable::tell_owner(RpcId fork) {
  const User user = users_.at(fork);
  users_.erase(fork);
  tell(user.owner, RpcMessageKind::delete_user, user.rref, fork);
}

void RRefTable::drop_if_unused(RpcId rref) {
  const auto owner = owners_.find(rref);
  if (owner == owners_.end() || !owner->second.forks.empty() || !owner->second.handle.expired()) return;
  if (!owner->second.value) return;  // its function still runs
  const Owner last = std::move(owner->second);
  owners_.erase(owner);
}

bool RRefTable::is_settled() const {
  if (!passing_.empty()) return false;
  for (const auto& [fork, user] : users_)
    if (!user.confirmed) return false;
  return true;
}

std::vector<RpcLeak> RRefTable::delete_users() {
  std::vector<RpcLeak> leaks;
  while (!users_.empty()) {
    const RpcId fork = users_.begin()->first;
    const User user = users_.begin()->second;
    if (const auto state = user.state.lock()) {
      state->deleted = true;
      state->last_handle_gone = nullptr;
      leaks.push_back(
          {user.rref, fork, names_[static_cast<std::size_t>(user.owner)], names_[static_cast<std::size_t>(self_)]});
    }
    tell_owner(fork);
  }
  return leaks;
}

}  // namespace pdsim
