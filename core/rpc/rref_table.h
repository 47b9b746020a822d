// RRefTable: the references of one worker: the values it owns, with the users it knows of, and its own uses of others' values.
// The protocol is in core/rpc/rref.h; messages to other workers go through `send`.
#pragma once

#include "core/rpc/message.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pdsim {

// A user that remained when RPC was shut down.
struct RpcLeak {
  RpcId rref, fork;
  std::string owner, user;  // workers
  bool operator==(const RpcLeak&) const = default;
};

class RRefTable : public std::enable_shared_from_this<RRefTable> {
 public:
  using Send = std::function<void(std::int64_t to, const RpcMessage&)>;
  RRefTable(std::int64_t self, std::vector<std::string> names, Send send)
      : self_(self), names_(std::move(names)), send_(std::move(send)) {}

  // A new reference to a value of `owner`; this worker is its first user, or its owner.
  RRef create(std::int64_t owner);
  // At the owner: the value is on its way; `user` is the caller's fork.
  void expect(RpcId rref, RpcId user);
  void set_value(RpcId rref, Result<RpcValue> value);
  // Calls `then` with the value once it exists; at once if it does, or if there is nothing of this number (an error).
  void when_ready(RpcId rref, std::function<void(const Result<RpcValue>&)> then);
  // The value, if it exists already.
  const Result<RpcValue>* value(RpcId rref) const;
  RRef owned_handle(RpcId rref);

  // For encode() of a message to, and decode() of one from, `peer`.
  RpcForks forks_with(std::int64_t peer);
  void confirm(RpcId fork);               // the owner knows of this user
  void worker_gone(std::int64_t worker);  // nothing is expected of it any more
  // Handles messages of the protocol; false: it is none of these.
  bool handle(std::int64_t from, const RpcMessage& message);

  // True if nothing waits for an answer of another worker.
  bool is_settled() const;
  // Gives up every remaining use, and returns them.
  std::vector<RpcLeak> delete_users();
  std::size_t owned() const { return owners_.size(); }
  std::size_t users() const { return users_.size(); }
  std::function<void()> on_change;

 private:
  struct Owner {
    std::optional<Result<RpcValue>> value{};
    std::set<RpcId> forks{};
    std::weak_ptr<RRef::State> handle{};
    std::vector<std::function<void(const Result<RpcValue>&)>> waiting{};
  };
  struct User {
    RpcId rref;
    std::int64_t owner = -1;
    std::int64_t parent = -1;  // worker to pass the owner's answer on to
    std::weak_ptr<RRef::State> state{};
    bool confirmed = false;
    bool gone = false;  // its last handle; the owner is told once it knows of it
  };
  RpcId next_id() { return {self_, next_id_++}; }
  std::shared_ptr<RRef::State> make_state(RpcId rref, RpcId fork, std::int64_t owner);
  RRefFork fork_for(std::int64_t peer, const RRef& rref);
  RRef receive(const RRefFork& fork);
  void user_gone(RpcId fork);
  void tell_owner(RpcId fork);
  void drop_if_unused(RpcId rref);
  void tell(std::int64_t to, RpcMessageKind kind, RpcId rref, RpcId fork);

  std::int64_t self_;
  std::vector<std::string> names_;
  Send send_;
  std::int64_t next_id_ = 0;
  std::map<RpcId, Owner> owners_;
  std::map<RpcId, User> users_;  // by fork
  struct Passing {
    std::shared_ptr<RRef::State> parent;
    std::int64_t to = -1;
  };
  std::map<RpcId, Passing> passing_;  // by fork: kept until the owner knows of it
};

}  // namespace pdsim
