// The RPC state of a rank's program: its worker, and futures and references by the labels of the operations that created them.
#pragma once

#include "core/rpc/autograd/optimizer.h"
#include "scenarios/language/tables/rpc_options.h"
#include "scenarios/program/session.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdsim::scenarios::operations {

struct RpcSession {
  RpcSession(RankEnvironment& env, const RpcFunctions& functions) : rpc(env, functions) {}

  Rpc rpc;
  struct Future {
    RpcFuture future;
    std::optional<std::string> returns;  // the expected value
  };
  std::map<std::string, Future> futures;
  std::map<std::string, RRef> rrefs;       // they end before `rpc`
  std::map<std::string, RpcValue> values;  // of finished calls
  std::map<std::string, DistributedOptimizer> optimizers;
  std::map<std::string, std::int64_t> contexts;  // including those that have been left
  std::unique_ptr<DistributedContext> context;   // the one around the current operation

  // The Rpc from which the current operation calls.
  Rpc& here() { return context != nullptr ? context->rpc() : rpc; }
};

// The functions of the table (language/tables/rpc_functions.h) that this worker registers: those with these names, or all if
// there are none.
RpcFunctions rpc_functions_of(Session& s, std::span<const std::string> names);

// Converts arguments to values; references by their labels. Error: invalid_argument, a label for which this rank has no
// reference.
Result<RpcList> rpc_values(const RpcSession& rpc, std::span<const RpcArgument> arguments);

// Prints it as Python does: 5, 2.5, 'text', [1, 2], tensor([1., 2.]).
std::string rpc_text(const RpcValue& value);

// Waits for the future with this label; nothing where no rpc_async has it.
std::optional<Status> wait_for_future(Session& s, const std::string& label);

}  // namespace pdsim::scenarios::operations
