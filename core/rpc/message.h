// RpcMessage: the messages between workers, as MessagePack.
//
//   decode   never trusts its bytes: cut short, of other types or nested without end is an error (wrong_data), never a crash
//   rrefs    a reference that travels becomes a fork at the receiver: `Forks` tells both ends which
#pragma once

#include "core/base/enum_names.h"
#include "core/rpc/value.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pdsim {

enum class RpcMessageKind : std::uint8_t {
  call,    // a function; answered by a reply
  remote,  // the same (a function, or a method where `object` is one), and the result stays at the callee as `rref`
  method,        // of `object`; answered by a reply
  fetch,         // the value of `object`; answered by a reply
  reply,         // to `id`
  fork_request,  // user to owner: `fork` of `rref` exists; answered by fork_accept
  fork_accept,   // owner to user
  child_accept,  // user to the parent that passed `rref` on: the owner knows of `fork`
  delete_user,   // user to owner: `fork` is gone
  arrived,       // to the leader of a shutdown: this worker has reached phase `id`
  proceed,       // from the leader
  bye,           // nothing more comes from this worker
  gradients,  // distributed autograd: for the tensors of message `autograd`, in the backward `rref`; answered by a reply
  context_done,  // distributed autograd: context `context` has been left
  count_,
};

template <>
inline constexpr auto enum_rows<RpcMessageKind> = std::to_array<EnumRow<RpcMessageKind>>({
    {RpcMessageKind::call, "call"},
    {RpcMessageKind::remote, "remote"},
    {RpcMessageKind::method, "method"},
    {RpcMessageKind::fetch, "fetch"},
    {RpcMessageKind::reply, "reply"},
    {RpcMessageKind::fork_request, "fork request"},
    {RpcMessageKind::fork_accept, "fork accept"},
    {RpcMessageKind::child_accept, "child accept"},
    {RpcMessageKind::delete_user, "delete user"},
    {RpcMessageKind::arrived, "arrived"},
    {RpcMessageKind::proceed, "proceed"},
    {RpcMessageKind::bye, "bye"},
    {RpcMessageKind::gradients, "gradients"},
    {RpcMessageKind::context_done, "context done"},
});

struct RpcMessage {
  RpcMessageKind kind = RpcMessageKind::call;
  std::int64_t id = -1;  // of a request, and of its reply
  std::string function;  // or method
  RpcList arguments;
  RpcId object, rref, fork;
  RpcValue value;       // of a reply
  bool failed = false;  // a reply with `error`
  Error error;
  std::int64_t context = -1;   // of distributed autograd; -1: none
  std::int64_t autograd = -1;  // its number of this message
};

// Bytes of its tensors that have no values.
std::int64_t bytes_without_values(const RpcMessage& message);

struct RpcForks {
  std::function<RRefFork(const RRef&)> send;
  std::function<RRef(const RRefFork&)> receive;
};

// Error: program_raised (a TypeError), where a value cannot be sent.
Result<std::string> encode(const RpcMessage& message, const RpcForks& forks);
Result<RpcMessage> decode(std::string_view bytes, const RpcForks& forks);

}  // namespace pdsim
