// RRef: a reference to a value at one worker, its owner. Every other worker that has one is a user.
//
//   ids       for the reference and for each user's fork of it, unique in the job: where it was created, and a number
//   lifetime  the owner keeps the value while it has a handle itself, or while it knows of a user; a user's last handle tells
//             the owner. A user that passes its reference on keeps it until the owner knows of the new user, so messages may
//             arrive in any order (PyTorch's rref protocol, notes 1 to 4)
//   use       through Rpc (core/rpc/rpc.h): to_here, local_value, calls of methods
//   threads   those of one rank
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace pdsim {

struct RpcId {
  std::int64_t created_on = -1, local_id = -1;
  auto operator<=>(const RpcId&) const = default;
};
std::string to_string(RpcId id);  // "GloballyUniqueId(created_on=0, local_id=1)"

// The part of a reference that is sent: the fork that its receiver becomes, and the worker that passed it on.
struct RRefFork {
  RpcId rref, fork;
  std::int64_t owner = -1, parent = -1;
};

class RRef {
 public:
  struct State {
    RpcId rref, fork;  // the owner's own handles have no fork
    std::int64_t owner = -1;
    std::string owner_name;
    bool is_owner = false;
    bool confirmed = false;      // the owner knows of this user
    bool deleted = false;        // at shutdown, although handles were left
    std::string creation_error;  // why the owner has no value
    std::function<void(State&)> last_handle_gone;
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      if (last_handle_gone) last_handle_gone(*this);
    }
  };

  RRef() = default;  // refers to nothing; only to be assigned to
  explicit RRef(std::shared_ptr<State> state) : state_(std::move(state)) {}

  bool defined() const { return state_ != nullptr; }
  bool is_owner() const { return state_->is_owner; }
  bool confirmed_by_owner() const { return state_->is_owner || state_->confirmed; }
  const std::string& owner_name() const { return state_->owner_name; }
  std::int64_t owner() const { return state_->owner; }
  RpcId id() const { return state_->rref; }
  // "UserRRef(rref_id=..., fork_id=...)", as PyTorch writes it.
  std::string text() const;
  State& state() const { return *state_; }
  const std::shared_ptr<State>& shared_state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace pdsim
