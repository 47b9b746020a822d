// The options of the operations of RPC. For the rows in rpc_operations.h alone.
#pragma once

#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/collective_keys.h"
#include "scenarios/language/tables/rpc_functions.h"
#include "scenarios/language/tables/rpc_options.h"

#include <array>

namespace pdsim::scenarios::language {

inline constexpr std::array init_rpc_keys{
    Key{.name = "name",
        .type = Type::text,
        .help = "the worker's name; {rank} stands for the rank",
        .bind = to<&InitRpcOptions::name>},
    Key{.name = "num_worker_threads",
        .type = Type::integer,
        .help = "how many functions it serves at once; replies need one too",
        .low = 1,
        .high = 1024,
        .bind = to<&InitRpcOptions::num_worker_threads>},
    Key{.name = "rpc_timeout",
        .type = Type::duration,
        .help = "of calls that say none; 0s: they wait forever",
        .bind = to<&InitRpcOptions::rpc_timeout>},
    Key{.name = "functions",
        .type = Type::names,
        .help = "what it registers; default: all",
        .choices = rpc_function_names,
        .bind = to<&InitRpcOptions::functions>},
};
inline constexpr Key rpc_timeout_key{
    .name = "timeout", .type = Type::duration, .help = "how long the caller waits; default: rpc_timeout of init_rpc"};
inline constexpr Key rpc_returns_key{.name = "returns",
                                     .type = Type::text,
                                     .help = "the value it must give, as Python prints it; another is wrong-data"};
inline constexpr Key rpc_to_key{
    .name = "to", .type = Type::text, .help = "name of the worker whose function is called"};
inline constexpr Key rpc_rref_key{
    .name = "rref",
    .type = Type::name,
    .help = "instead of `to`: label of the `remote` whose object's method is called, at its owner"};
inline constexpr Key rpc_function_key{
    .name = "function", .type = Type::text, .help = "what is called; a method with `rref`", .required = true};
inline constexpr Key rpc_args_key{.name = "args",
                                  .type = Type::values,
                                  .help = "its arguments: numbers, texts, lists, {rref: label}, {tensor: [1, 2]}"};

inline constexpr std::array rpc_call_keys{
    bound(rpc_to_key, to<&RpcCallOptions::to>),
    bound(rpc_rref_key, to<&RpcCallOptions::rref>),
    bound(rpc_function_key, to<&RpcCallOptions::function>),
    bound(rpc_args_key, to<&RpcCallOptions::args>),
    bound(rpc_timeout_key, to<&RpcCallOptions::timeout>),
    bound(rpc_returns_key, to<&RpcCallOptions::returns>),
};
inline constexpr std::array remote_keys{
    bound(rpc_to_key, to<&RpcCallOptions::to>),
    bound(rpc_rref_key, to<&RpcCallOptions::rref>),
    bound(rpc_function_key, to<&RpcCallOptions::function>),
    bound(rpc_args_key, to<&RpcCallOptions::args>),
    bound(rpc_timeout_key, to<&RpcCallOptions::timeout>),
};
inline constexpr std::array wait_all_keys{
    Key{.name = "for",
        .type = Type::names,
        .help = "labels of earlier rpc_async",
        .required = true,
        .bind = to<&WaitAllOptions::labels>},
};
inline constexpr Key rref_of_key{
    .name = "of", .type = Type::name, .help = "label of the `remote` that made the reference", .required = true};
inline constexpr std::array to_here_keys{
    bound(rref_of_key, to<&RRefOptions::of>),
    bound(rpc_timeout_key, to<&RRefOptions::timeout>),
    bound(rpc_returns_key, to<&RRefOptions::returns>),
};
inline constexpr std::array local_value_keys{
    bound(rref_of_key, to<&RRefOptions::of>),
    bound(rpc_returns_key, to<&RRefOptions::returns>),
};
inline constexpr std::array delete_rref_keys{bound(rref_of_key, to<&RRefOptions::of>)};
inline constexpr std::array autograd_context_keys{
    Key{.name = "do",
        .type = Type::operations,
        .help = "what runs inside: its remote calls belong to the context, and link the graphs of their workers",
        .required = true,
        .traits = as_around},
};
inline constexpr Key context_key{
    .name = "context", .type = Type::name, .help = "label of the autograd_context; default: the one around"};
inline constexpr std::array dist_backward_keys{
    Key{.name = "of",
        .type = Type::name,
        .help = "label of the rpc_sync, rpc_async or to_here whose tensor's sum is the loss",
        .required = true,
        .bind = to<&DistBackwardOptions::of>},
    bound(context_key, to<&DistBackwardOptions::context>),
};
inline constexpr std::array distributed_optimizer_keys{
    Key{.name = "of",
        .type = Type::names,
        .help = "labels of the `remote` that made its parameters",
        .required = true,
        .bind = to<&DistributedOptimizerOptions::of>},
    Key{.name = "lr",
        .type = Type::decimal,
        .help = "learning rate of SGD",
        .bind = to<&DistributedOptimizerOptions::lr>},
};
inline constexpr std::array distributed_step_keys{
    Key{.name = "optimizer",
        .type = Type::name,
        .help = "label of the distributed_optimizer",
        .required = true,
        .bind = to<&DistributedStepOptions::optimizer>},
    bound(context_key, to<&DistributedStepOptions::context>),
};
inline constexpr std::array rpc_shutdown_keys{
    Key{.name = "graceful",
        .type = Type::boolean,
        .help = "true: serves until every worker has called it and every call is over; false: leaves at once, alone",
        .bind = to<&RpcShutdownOptions::graceful>},
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "of a graceful one; 0s: it waits forever",
        .bind = to<&RpcShutdownOptions::timeout>},
};

}  // namespace pdsim::scenarios::language
