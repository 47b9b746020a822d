// init_rpc, rpc_sync, rpc_async, wait_all, remote, to_here, local_value, delete_rref, shutdown.
#include "scenarios/language/tables/rpc_functions.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/rpc_session.h"

#include <fmt/format.h>

#include <utility>

namespace pdsim::scenarios::operations {
namespace {

struct WaitAllOptions {
  std::vector<std::string> labels;
};

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
      Code::wrong_data, fmt::format("{} returned {}, but the file expects {}", name, rpc_text(*value), *returns), {}};
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

}  // namespace

std::optional<Status> wait_for_future(Session& s, const std::string& label) {
  if (s.rpc == nullptr) return std::nullopt;
  const auto found = s.rpc->futures.find(label);
  if (found == s.rpc->futures.end()) return std::nullopt;
  const RpcSession::Future waited = found->second;
  return keep_value(s, "wait", label, waited.future.wait(), waited.returns);
}

namespace {

Status wait_all(Session& s, const Operation& op) {
  if (s.rpc == nullptr) return rpc_not_initialized();
  for (const std::string& label : op.as<WaitAllOptions>().labels) {
    const std::optional<Status> waited = wait_for_future(s, label);
    if (!waited)
      return Error{Code::invalid_argument,
                   fmt::format("wait_all: rank {} has not started an rpc_async with the label `{}`", s.env.rank, label),
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

constexpr std::array init_rpc_keys{
    Key{.name = "name",
        .type = Type::text,
        .help = "the worker's name; {rank} stands for the rank",
        .bind = to<&InitRpcOptions::name>},
    Key{.name = "num_worker_threads",
        .type = Type::integer,
        .help = "number of functions that it serves at once; replies need one too",
        .low = 1,
        .high = 1024,
        .bind = to<&InitRpcOptions::num_worker_threads>},
    Key{.name = "rpc_timeout",
        .type = Type::duration,
        .help = "timeout of calls that give none; 0s: they wait forever",
        .bind = to<&InitRpcOptions::rpc_timeout>},
    Key{.name = "functions",
        .type = Type::names,
        .help = "functions that it registers; default: all",
        .choices = language::rpc_function_names,
        .bind = to<&InitRpcOptions::functions>},
};

constexpr Key rpc_timeout_key{
    .name = "timeout", .type = Type::duration, .help = "how long the caller waits; default: rpc_timeout of init_rpc"};

constexpr Key rpc_returns_key{.name = "returns",
                                     .type = Type::text,
                                     .help = "the value that it must return, as Python prints it; any other is "
                                             "wrong-data"};

constexpr Key rpc_to_key{
    .name = "to", .type = Type::text, .help = "name of the worker whose function is called"};

constexpr Key rpc_rref_key{
    .name = "rref",
    .type = Type::name,
    .help = "instead of `to`: label of the `remote` whose object has the method, called at its owner"};

constexpr Key rpc_function_key{
    .name = "function", .type = Type::text, .help = "the function to call; a method with `rref`", .required = true};

constexpr Key rpc_args_key{.name = "args",
                                  .type = Type::values,
                                  .help = "its arguments: numbers, texts, lists, {rref: label}, {tensor: [1, 2]}"};

constexpr std::array rpc_call_keys{
    bound(rpc_to_key, to<&RpcCallOptions::to>),
    bound(rpc_rref_key, to<&RpcCallOptions::rref>),
    bound(rpc_function_key, to<&RpcCallOptions::function>),
    bound(rpc_args_key, to<&RpcCallOptions::args>),
    bound(rpc_timeout_key, to<&RpcCallOptions::timeout>),
    bound(rpc_returns_key, to<&RpcCallOptions::returns>),
};

constexpr std::array remote_keys{
    bound(rpc_to_key, to<&RpcCallOptions::to>),
    bound(rpc_rref_key, to<&RpcCallOptions::rref>),
    bound(rpc_function_key, to<&RpcCallOptions::function>),
    bound(rpc_args_key, to<&RpcCallOptions::args>),
    bound(rpc_timeout_key, to<&RpcCallOptions::timeout>),
};

constexpr std::array wait_all_keys{
    Key{.name = "for",
        .type = Type::names,
        .help = "labels of earlier rpc_async",
        .required = true,
        .bind = to<&WaitAllOptions::labels>},
};

constexpr Key rref_of_key{
    .name = "of", .type = Type::name, .help = "label of the `remote` that created the reference", .required = true};

constexpr std::array to_here_keys{
    bound(rref_of_key, to<&RRefOptions::of>),
    bound(rpc_timeout_key, to<&RRefOptions::timeout>),
    bound(rpc_returns_key, to<&RRefOptions::returns>),
};

constexpr std::array local_value_keys{
    bound(rref_of_key, to<&RRefOptions::of>),
    bound(rpc_returns_key, to<&RRefOptions::returns>),
};

constexpr std::array delete_rref_keys{bound(rref_of_key, to<&RRefOptions::of>)};

constexpr std::array rpc_shutdown_keys{
    Key{.name = "graceful",
        .type = Type::boolean,
        .help = "true: serves until every worker has called it and every call is over; false: leaves at once, alone",
        .bind = to<&RpcShutdownOptions::graceful>},
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "timeout of a graceful shutdown; 0s: it waits forever",
        .bind = to<&RpcShutdownOptions::timeout>},
};

constexpr std::array rpc_rows{
    OperationRow{.name = "init_rpc",
                 .help = "joins RPC under a name, with the other workers; blocks until all have",
                 .title_help = "rpc.init_rpc",
                 .keys = init_rpc_keys,
                 .options = options_of<InitRpcOptions>,
                 .traits = language::in_train,
                 .run = init_rpc},
    OperationRow{.name = "rpc_sync",
                 .help = "calls a function of another worker and waits for the result",
                 .title_help = "a remote call",
                 .keys = rpc_call_keys,
                 .options = options_of<RpcCallOptions>,
                 .traits = language::in_train,
                 .run = rpc_sync},
    OperationRow{.name = "rpc_async",
                 .help = "like rpc_sync, but returns at once; its label names the future, for `wait` and wait_all",
                 .title_help = "a remote call",
                 .keys = rpc_call_keys,
                 .options = options_of<RpcCallOptions>,
                 .traits = language::in_train | language::asynchronous,
                 .run = rpc_async},
    OperationRow{.name = "wait_all",
                 .help = "waits for the futures of several rpc_async",
                 .title_help = "torch.futures.wait_all",
                 .keys = wait_all_keys,
                 .options = options_of<WaitAllOptions>,
                 .traits = language::in_train,
                 .run = wait_all},
    OperationRow{.name = "remote",
                 .help = "calls a function whose result stays at the callee; its label names the RRef",
                 .title_help = "rpc.remote",
                 .keys = remote_keys,
                 .options = options_of<RpcCallOptions>,
                 .traits = language::in_train,
                 .run = remote},
    OperationRow{.name = "to_here",
                 .help = "fetches the value that an RRef refers to",
                 .title_help = "rref.to_here()",
                 .keys = to_here_keys,
                 .options = options_of<RRefOptions>,
                 .traits = language::in_train,
                 .run = to_here},
    OperationRow{.name = "local_value",
                 .help = "the value that an RRef refers to, at its owner",
                 .title_help = "rref.local_value()",
                 .keys = local_value_keys,
                 .options = options_of<RRefOptions>,
                 .traits = language::in_train,
                 .run = local_value},
    OperationRow{.name = "delete_rref",
                 .help = "drops this worker's use of an RRef",
                 .title_help = "del rref",
                 .keys = delete_rref_keys,
                 .options = options_of<RRefOptions>,
                 .traits = language::in_train,
                 .run = delete_rref},
};

constexpr std::array rpc_shutdown_rows{
    OperationRow{.name = "shutdown",
                 .help = "leaves RPC",
                 .title_help = "rpc.shutdown",
                 .keys = rpc_shutdown_keys,
                 .options = options_of<RpcShutdownOptions>,
                 .run = rpc_shutdown},
};

}  // namespace

const Operations rpc_operations{rpc_rows};
const Operations rpc_shutdown_operations{rpc_shutdown_rows};

}  // namespace pdsim::scenarios::operations
