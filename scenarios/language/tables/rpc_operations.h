// The operations of RPC: their part of the table in operations_table.h.
#pragma once

#include "scenarios/language/tables/operation_keys.h"
#include "scenarios/language/tables/rpc_keys.h"

#include <array>

namespace pdsim::scenarios::language {

inline constexpr Group rpc_pipeline_options{.title = "rpc_pipeline",
                                            .help = "a training loop over RPC",
                                            .keys = rpc_pipeline_keys,
                                            .options = options_of<RpcPipelineOptions>};
inline constexpr Group init_rpc_options{
    .title = "init_rpc", .help = "rpc.init_rpc", .keys = init_rpc_keys, .options = options_of<InitRpcOptions>};
inline constexpr Group rpc_sync_options{
    .title = "rpc_sync", .help = "a remote call", .keys = rpc_call_keys, .options = options_of<RpcCallOptions>};
inline constexpr Group rpc_async_options{
    .title = "rpc_async", .help = "a remote call", .keys = rpc_call_keys, .options = options_of<RpcCallOptions>};
inline constexpr Group remote_options{
    .title = "remote", .help = "rpc.remote", .keys = remote_keys, .options = options_of<RpcCallOptions>};
inline constexpr Group wait_all_options{.title = "wait_all",
                                        .help = "torch.futures.wait_all",
                                        .keys = wait_all_keys,
                                        .options = options_of<WaitAllOptions>};
inline constexpr Group to_here_options{
    .title = "to_here", .help = "rref.to_here()", .keys = to_here_keys, .options = options_of<RRefOptions>};
inline constexpr Group local_value_options{
    .title = "local_value", .help = "rref.local_value()", .keys = local_value_keys, .options = options_of<RRefOptions>};
inline constexpr Group delete_rref_options{
    .title = "delete_rref", .help = "del rref", .keys = delete_rref_keys, .options = options_of<RRefOptions>};
inline constexpr Group autograd_context_options{
    .title = "autograd_context", .help = "dist_autograd.context()", .keys = autograd_context_keys};
inline constexpr Group dist_backward_options{.title = "dist_backward",
                                             .help = "dist_autograd.backward",
                                             .keys = dist_backward_keys,
                                             .options = options_of<DistBackwardOptions>};
inline constexpr Group distributed_optimizer_options{.title = "distributed_optimizer",
                                                     .help = "DistributedOptimizer",
                                                     .keys = distributed_optimizer_keys,
                                                     .options = options_of<DistributedOptimizerOptions>};
inline constexpr Group distributed_step_options{.title = "distributed_step",
                                                .help = "DistributedOptimizer.step",
                                                .keys = distributed_step_keys,
                                                .options = options_of<DistributedStepOptions>};
inline constexpr Group rpc_shutdown_options{
    .title = "shutdown", .help = "rpc.shutdown", .keys = rpc_shutdown_keys, .options = options_of<RpcShutdownOptions>};

inline constexpr std::array rpc_operations{
    Key{.name = "rpc_pipeline",
        .type = Type::group,
        .help = "trains shards of the model over RPC, as DistResNet50 of PyTorch's tutorial: rank 0 drives, the other ranks have a "
                "shard each; every rank calls it, and needs no process group for it",
        .group = &rpc_pipeline_options,
        .traits = needs_model},
    Key{.name = "init_rpc",
        .type = Type::group,
        .help = "joins RPC under a name, with the other workers; blocks until all have",
        .group = &init_rpc_options,
        .traits = in_train},
    Key{.name = "rpc_sync",
        .type = Type::group,
        .help = "calls a function of another worker and waits for the result",
        .group = &rpc_sync_options,
        .traits = in_train},
    Key{.name = "rpc_async",
        .type = Type::group,
        .help = "the same, and returns at once; its label names the future, for `wait` and wait_all",
        .group = &rpc_async_options,
        .traits = in_train | asynchronous},
    Key{.name = "wait_all",
        .type = Type::group,
        .help = "waits for the futures of several rpc_async",
        .group = &wait_all_options,
        .traits = in_train},
    Key{.name = "remote",
        .type = Type::group,
        .help = "calls a function whose result stays at the callee; its label names the RRef",
        .group = &remote_options,
        .traits = in_train},
    Key{.name = "to_here",
        .type = Type::group,
        .help = "fetches the value that an RRef refers to",
        .group = &to_here_options,
        .traits = in_train},
    Key{.name = "local_value",
        .type = Type::group,
        .help = "the value that an RRef refers to, at its owner",
        .group = &local_value_options,
        .traits = in_train},
    Key{.name = "delete_rref",
        .type = Type::group,
        .help = "gives up this worker's use of an RRef",
        .group = &delete_rref_options,
        .traits = in_train},
    Key{.name = "autograd_context",
        .type = Type::group,
        .help = "`do` in a context of distributed autograd",
        .group = &autograd_context_options,
        .traits = in_train},
    Key{.name = "dist_backward",
        .type = Type::group,
        .help = "backward over the graphs that remote calls have linked; gradients stay with the context",
        .group = &dist_backward_options,
        .traits = in_train},
    Key{.name = "distributed_optimizer",
        .type = Type::group,
        .help = "an optimizer of parameters at other workers; its label names it",
        .group = &distributed_optimizer_options,
        .traits = in_train},
    Key{.name = "distributed_step",
        .type = Type::group,
        .help = "a step at every owner, with the gradients of one context",
        .group = &distributed_step_options,
        .traits = in_train},
    Key{.name = "shutdown",
        .type = Type::group,
        .help = "leaves RPC",
        .group = &rpc_shutdown_options},
};

}  // namespace pdsim::scenarios::language
