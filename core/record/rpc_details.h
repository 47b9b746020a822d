// The details of a call of Layer::rpc besides its peer, which is the other worker's rank.
//
//   two records   a request is recorded by its caller, and by its callee as a call named "serve". Caller, peer and `request` are
//                 the same number in both, so that a reader can match them
//   caller        issued: the request left; started: its reply arrived, and needs a server thread of the caller; finished: the
//                 future has it. rpc_sync, to_here and wait keep their thread until then; rpc_async, remote and backward are
//                 `async`
//   callee        issued: the request arrived; started: server thread `server` took it up (to_here: at once); finished: the reply
//                 left
//   threads       a request made inside a served function has that "serve" as its parent, and its `server`
#pragma once

#include "core/base/enum_names.h"
#include "core/base/quantity.h"
#include "core/record/note_field.h"

#include <cstdint>
#include <string>

namespace pdsim {

enum class RpcSide : std::uint8_t { none, caller, callee };

template <>
inline constexpr auto enum_rows<RpcSide> = std::to_array<EnumRow<RpcSide>>({
    {RpcSide::none, "none"},
    {RpcSide::caller, "caller"},
    {RpcSide::callee, "callee"},
});

struct RpcDetails {
  RpcSide side = RpcSide::none;  // none: not a request (shutdown)
  std::string function;          // or the method, to_here, backward
  std::string worker;            // the peer's name, or the requested name that does not exist
  std::int64_t request = -1;     // numbered by the caller
  int server = -1;               // caller: the server thread making it, -1 the program; callee: the one serving it, -1 none yet
  int context_on = -1;           // the context of distributed autograd: the rank that began it, and its number there
  std::int64_t context = -1;
  int rref_on = -1;              // the reference it creates, or whose value it reads: where it was created, and its number there
  std::int64_t rref = -1;
  int object_on = -1;            // the reference whose method it calls, likewise
  std::int64_t object = -1;
  Time timeout{};                // zero: none
  static constexpr void fields(auto field) {
    field("side", &RpcDetails::side), field("function", &RpcDetails::function), field("worker", &RpcDetails::worker),
    field("request", &RpcDetails::request), field("server", &RpcDetails::server), field("context_on", &RpcDetails::context_on),
    field("context", &RpcDetails::context), field("rref_on", &RpcDetails::rref_on), field("rref", &RpcDetails::rref),
    field("object_on", &RpcDetails::object_on), field("object", &RpcDetails::object), field("timeout_ps", &RpcDetails::timeout);
  }
  bool operator==(const RpcDetails&) const = default;
};

}  // namespace pdsim
