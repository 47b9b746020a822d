// init_rpc, rpc_sync, rpc_async, wait_all, remote, to_here, local_value, delete_rref, shutdown.
#include "scenarios/program/operations.h"
#include "scenarios/program/rpc_session.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim::scenarios::operations {
namespace {

Error rpc_not_initialized() {
  return {Code::not_initialized, "RPC has not been initialized. Call torch.distributed.rpc.init_rpc first.", {}};
}

std::string worker_name_of(std::string name, Rank rank) {
  const std::size_t at = name.find(rank_in_name);
  if (at != std::string::npos) name.replace(at, rank_in_name.size(), std::to_string(rank));
  return name;
}

// Keeps the value under its label. An error also: a value that is not what the file says it is.
Status keep_value(Session& s, std::string_view name, const std::string& label, const Result<RpcValue>& value,
                  const std::optional<std::string>& returns) {
  if (!value.ok()) return value.error();
  if (!label.empty()) s.rpc->values.insert_or_assign(label, *value);
  if (!returns || rpc_text(*value) == *returns) return {};
  return Error{
      Code::wrong_data, fmt::format("{} returned {}, and the file says {}", name, rpc_text(*value), *returns), {}};
}

std::optional<std::string> expected_of(const std::optional<Located<std::string>>& returns) {
  return returns ? std::optional(**returns) : std::nullopt;
}

Result<RRef> reference_of(const RpcSession& rpc, const std::string& label) {
  const auto found = rpc.rrefs.find(label);
  if (found != rpc.rrefs.end()) return found->second;
  return Error{Code::invalid_argument, fmt::format("name '{}' is not defined", label), {{"label", label}}};
}

Result<RpcFuture> start_call(Session& s, const RpcCallOptions& call) {
  RpcSession& rpc = *s.rpc;
  Result<RpcList> arguments = rpc_values(rpc, call.args);
  if (!arguments.ok()) return arguments.error();
  if (call.rref.empty()) return rpc.here().rpc_async(call.to, call.function, std::move(*arguments), call.timeout);
  const Result<RRef> rref = reference_of(rpc, call.rref);
  if (!rref.ok()) return rref.error();
  return rpc.here().rpc_async(*rref, call.function, std::move(*arguments), call.timeout);
}

Result<RpcValue> call_and_wait(Session& s, const RpcCallOptions& call) {
  RpcSession& rpc = *s.rpc;
  Result<RpcList> arguments = rpc_values(rpc, call.args);
  if (!arguments.ok()) return arguments.error();
  if (call.rref.empty()) return rpc.here().rpc_sync(call.to, call.function, std::move(*arguments), call.timeout);
  const Result<RRef> rref = reference_of(rpc, call.rref);
  if (!rref.ok()) return rref.error();
  return rpc.here().rpc_sync(*rref, call.function, std::move(*arguments), call.timeout);
}

}  // namespace

Status init_rpc(Session& s, const Operation& op) {
  const auto& options = op.as<InitRpcOptions>();
  auto rpc = s.rpc != nullptr ? s.rpc : std::make_shared<RpcSession>(s.env, rpc_functions_of(s, options.functions));
  PDSIM_TRY(rpc->rpc.init_rpc(worker_name_of(options.name, s.env.rank),
                              {static_cast<int>(options.num_worker_threads), options.rpc_timeout}));
  s.rpc = std::move(rpc);
  return {};
}

Status rpc_sync(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& call = op.as<RpcCallOptions>();
  return keep_value(s, op.name, op.label, call_and_wait(s, call), expected_of(call.returns));
}

Status rpc_async(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& call = op.as<RpcCallOptions>();
  Result<RpcFuture> future = start_call(s, call);
  if (!future.ok()) return future.error();
  s.rpc->futures.insert_or_assign(op.label, RpcSession::Future{*future, expected_of(call.returns)});
  return {};
}

std::optional<Status> wait_for_future(Session& s, const std::string& label) {
  if (s.rpc == nullptr) return std::nullopt;
  const auto found = s.rpc->futures.find(label);
  if (found == s.rpc->futures.end()) return std::nullopt;
  const RpcSession::Future waited = found->second;
  return keep_value(s, "wait", label, waited.future.wait(), waited.returns);
}

Status wait_all(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  for (const std::string& label : op.as<WaitAllOptions>().labels) {
    const std::optional<Status> waited = wait_for_future(s, label);
    if (!waited)
      return Error{Code::invalid_argument,
                   fmt::format("wait_all: rank {} has started no rpc_async that is labelled `{}`", s.env.rank, label),
                   {{"label", label}}};
    PDSIM_TRY(*waited);
  }
  return {};
}

Status remote(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& call = op.as<RpcCallOptions>();
  RpcSession& rpc = *s.rpc;
  Result<RpcList> arguments = rpc_values(rpc, call.args);
  if (!arguments.ok()) return arguments.error();
  Result<RRef> made = Error{};
  if (call.rref.empty()) {
    made = rpc.here().remote(call.to, call.function, std::move(*arguments), call.timeout);
  } else {
    const Result<RRef> rref = reference_of(rpc, call.rref);
    if (!rref.ok()) return rref.error();
    made = rpc.here().remote(*rref, call.function, std::move(*arguments), call.timeout);
  }
  if (!made.ok()) return made.error();
  rpc.rrefs.insert_or_assign(op.label, *made);
  return {};
}

Status to_here(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& options = op.as<RRefOptions>();
  const Result<RRef> rref = reference_of(*s.rpc, options.of);
  if (!rref.ok()) return rref.error();
  return keep_value(s, op.name, op.label, s.rpc->here().to_here(*rref, options.timeout), expected_of(options.returns));
}

Status local_value(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& options = op.as<RRefOptions>();
  const Result<RRef> rref = reference_of(*s.rpc, options.of);
  if (!rref.ok()) return rref.error();
  return keep_value(s, op.name, op.label, s.rpc->here().local_value(*rref), expected_of(options.returns));
}

Status delete_rref(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const std::string& label = op.as<RRefOptions>().of;
  const Result<RRef> rref = reference_of(*s.rpc, label);
  if (!rref.ok()) return rref.error();
  s.rpc->rrefs.erase(label);
  return {};
}

Status rpc_shutdown(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  const auto& options = op.as<RpcShutdownOptions>();
  return s.rpc->rpc.shutdown(options.graceful, options.timeout).status();
}

}  // namespace pdsim::scenarios::operations
