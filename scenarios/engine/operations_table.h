// THE table of operations: what may stand in `program`, and in the `do` of train.
//
// Adding one: a row here, and a function in operations.cpp of that name. Loader, schema, `pdsim list` and the rank x step
// table take names, options, defaults and explanations from here.
#pragma once

#include "core/base/types.h"
#include "scenarios/engine/language/key.h"
#include "scenarios/engine/limits.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 3> init_methods{"tcp", "env", "file"};
inline constexpr std::array<std::string_view, 2> eval_targets{"ddp", "module"};
inline constexpr std::array<std::string_view, 2> norm_types{"2", "inf"};
inline constexpr std::array<std::string_view, 1> any_peer{"any"};
inline constexpr std::array<std::string_view, dtypes.size()> dtype_names = [] {
  std::array<std::string_view, dtypes.size()> names{};
  for (std::size_t i = 0; i < dtypes.size(); ++i) names[i] = dtypes[i].name;
  return names;
}();

inline constexpr Key count_key{.name = "count",
                               .shape = Shape::integer,
                               .about = "elements of the tensor that the user passes",
                               .otherwise = "1",
                               .high = limits::count};
inline constexpr Key dtype_key{
    .name = "dtype", .shape = Shape::word, .about = "element type", .otherwise = "f32", .words = dtype_names};
inline constexpr Key op_key{.name = "op",
                            .shape = Shape::word,
                            .about = "how elements are combined",
                            .otherwise = "sum",
                            .words = reduce_op_names};
inline constexpr Key root_key{.name = "root",
                              .shape = Shape::integer,
                              .about = "the rank of the world that has or gets the result; default: the group's first"};
inline constexpr Key group_key{.name = "group",
                               .shape = Shape::name,
                               .about = "the process group: world, or the name of a new_group",
                               .otherwise = "world"};
inline constexpr Key counts_key{.name = "counts",
                                .shape = Shape::counts,
                                .about = "elements of each rank's part, by rank of the group",
                                .required = true,
                                .high = limits::count};
inline constexpr Key tag_key{.name = "tag",
                             .shape = Shape::integer,
                             .about = "messages meet receives of the same tag",
                             .otherwise = "0",
                             .high = 1 << 30};
inline constexpr Key async_key{.name = "async",
                               .shape = Shape::boolean,
                               .about = "return at once; `wait: {for: label}` waits for it",
                               .otherwise = "false"};
inline constexpr Key algorithm_key{.name = "algorithm",
                                   .shape = Shape::text,
                                   .about =
                                       "auto, auto:mpich (openmpi, nccl, gloo), native, or a row of "
                                       "`pdsim list --what algorithms`",
                                   .otherwise = "auto"};

inline constexpr std::array init_keys{
    Key{.name = "method",
        .shape = Shape::word,
        .about = "how the ranks find each other",
        .otherwise = "tcp",
        .words = init_methods},
    Key{.name = "path", .shape = Shape::text, .about = "method file: the store's file"},
    Key{.name = "address",
        .shape = Shape::text,
        .about = "method tcp: tcp://host:port; default is the world's own store"},
};
inline constexpr std::array train_keys{
    Key{.name = "steps",
        .shape = Shape::integer,
        .about = "how often `do` runs",
        .required = true,
        .high = limits::steps},
    Key{.name = "do",
        .shape = Shape::operations,
        .about = "one step",
        .otherwise = "[zero_grad, forward, backward, optimizer_step]",
        .traits = in_train},
};
inline constexpr std::array no_sync_keys{
    Key{.name = "do",
        .shape = Shape::operations,
        .about = "what runs inside; its forwards decide that their backwards are not synchronised",
        .required = true,
        .traits = in_train},
};
inline constexpr std::array join_keys{
    Key{.name = "enable",
        .shape = Shape::boolean,
        .about = "false: `do` runs as if there were no join around it",
        .otherwise = "true"},
    Key{.name = "throw_on_early_termination",
        .shape = Shape::boolean,
        .about = "every rank raises as soon as one has no more inputs",
        .otherwise = "false"},
    Key{.name = "divide_by_initial_world_size",
        .shape = Shape::boolean,
        .about = "false: gradients are divided by the number of ranks that still have inputs",
        .otherwise = "true"},
    Key{.name = "do",
        .shape = Shape::operations,
        .about = "what runs inside, with `when` for each rank's number of steps",
        .required = true,
        .traits = in_join},
};
inline constexpr std::array eval_keys{
    Key{.name = "through",
        .shape = Shape::word,
        .about = "whose forward: the wrapper's, which broadcasts buffers, or the module's",
        .otherwise = "ddp",
        .words = eval_targets},
    Key{.name = "steps",
        .shape = Shape::integer,
        .about = "how many forwards",
        .otherwise = "1",
        .low = 1,
        .high = limits::steps},
};
inline constexpr std::array forward_keys{
    Key{.name = "input",
        .shape = Shape::name,
        .about = "name of the batch; every name is a batch of its own",
        .otherwise = "batch"},
    Key{.name = "output", .shape = Shape::name, .about = "name of its loss, for backward", .otherwise = "loss"},
    Key{.name = "path", .shape = Shape::name, .about = "path of the model; default is what `takes` says"},
};
inline constexpr std::array backward_keys{
    Key{.name = "losses", .shape = Shape::names, .about = "outputs whose losses are added up", .otherwise = "[loss]"},
};
inline constexpr std::array all_reduce_keys{count_key, dtype_key, op_key, group_key, async_key, algorithm_key};
inline constexpr std::array rooted_keys{count_key, dtype_key, root_key, group_key, async_key, algorithm_key};
inline constexpr std::array reduce_keys{count_key, dtype_key, op_key, root_key, group_key, async_key, algorithm_key};
inline constexpr std::array gathering_keys{count_key, dtype_key, group_key, async_key, algorithm_key};
inline constexpr std::array barrier_keys{group_key, async_key, algorithm_key};
inline constexpr std::array uneven_keys{counts_key, dtype_key, group_key, async_key, algorithm_key};
inline constexpr std::array uneven_reduce_keys{counts_key, dtype_key, op_key, group_key, async_key, algorithm_key};
inline constexpr std::array send_keys{
    Key{.name = "peer", .shape = Shape::integer, .about = "the rank of the world that it goes to", .required = true},
    count_key,
    dtype_key,
    tag_key,
    group_key,
    async_key,
};
inline constexpr std::array recv_keys{
    Key{.name = "peer",
        .shape = Shape::integer,
        .about = "the rank of the world that it comes from; any: whoever sends first",
        .required = true,
        .words = any_peer},
    count_key,
    dtype_key,
    tag_key,
    group_key,
    async_key,
};
inline constexpr std::array batch_keys{
    Key{.name = "messages",
        .shape = Shape::operations,
        .about = "sends and recvs, all of which are started before one is waited for",
        .required = true},
    group_key,
};
inline constexpr std::array new_group_keys{
    Key{.name = "name", .shape = Shape::name, .about = "what `group` calls it", .required = true},
    Key{.name = "ranks", .shape = Shape::int_set, .about = "its members, ranks of the world", .required = true},
    Key{.name = "timeout", .shape = Shape::duration, .about = "of its operations; default: the world's"},
};
inline constexpr std::array monitored_barrier_keys{
    Key{.name = "timeout",
        .shape = Shape::duration,
        .about = "how long rank 0 of the group waits for each rank; default: the group's"},
    Key{.name = "wait_all_ranks",
        .shape = Shape::boolean,
        .about = "name every missing rank, not the first one",
        .otherwise = "false"},
    group_key,
};
inline constexpr std::array destroy_keys{group_key};
inline constexpr std::array wait_keys{
    Key{.name = "for",
        .shape = Shape::name,
        .about = "label of an earlier operation with `async: true`",
        .required = true},
};
inline constexpr std::array compute_keys{
    Key{.name = "time", .shape = Shape::duration, .about = "how long the rank computes", .required = true},
};
inline constexpr std::array checkpoint_keys{
    Key{.name = "path", .shape = Shape::text, .about = "the file that gets parameters and buffers", .required = true},
    Key{.name = "of",
        .shape = Shape::word,
        .about = "whose state_dict: the module's, or the wrapper's, whose keys begin with `module.`",
        .otherwise = "module",
        .words = eval_targets},
};
inline constexpr std::array load_checkpoint_keys{
    Key{.name = "path", .shape = Shape::text, .about = "the file that checkpoint wrote", .required = true},
    Key{.name = "into",
        .shape = Shape::word,
        .about = "whose load_state_dict: the module's, or the wrapper's, which wants keys that begin with `module.`",
        .otherwise = "module",
        .words = eval_targets},
    Key{.name = "strict",
        .shape = Shape::boolean,
        .about = "missing and unexpected keys are errors",
        .otherwise = "true"},
};
inline constexpr std::array clip_keys{
    Key{.name = "max_norm", .shape = Shape::decimal, .about = "of all gradients together", .otherwise = "1"},
    Key{.name = "norm_type",
        .shape = Shape::word,
        .about = "of the square root of squares, or the largest",
        .otherwise = "2",
        .words = norm_types},
    Key{.name = "error_if_nonfinite",
        .shape = Shape::boolean,
        .about = "a norm that is NaN or infinite is an error",
        .otherwise = "false"},
};
inline constexpr std::array relaunch_keys{
    Key{.name = "clean",
        .shape = Shape::boolean,
        .about = "remove store files, as an orderly end does",
        .otherwise = "false"},
};

inline constexpr Group init_options{.title = "init", .about = "init_process_group", .keys = init_keys};
inline constexpr Group train_options{.title = "train", .about = "a training loop", .keys = train_keys};
inline constexpr Group no_sync_options{
    .title = "no_sync", .about = "DDP's context for accumulating gradients", .keys = no_sync_keys};
inline constexpr Group join_options{
    .title = "join", .about = "DDP's context for ranks with different numbers of inputs", .keys = join_keys};
inline constexpr Group eval_options{.title = "eval", .about = "a forward without gradients", .keys = eval_keys};
inline constexpr Group no_options{.title = "", .about = "takes no options"};
inline constexpr Group forward_options{
    .title = "forward", .about = "a forward of the model and its loss", .keys = forward_keys};
inline constexpr Group backward_options{.title = "backward", .about = "backward of the losses", .keys = backward_keys};
inline constexpr Group barrier_options{.title = "barrier", .about = "a barrier", .keys = barrier_keys};
inline constexpr Group all_reduce_options{.title = "all_reduce", .about = "a collective", .keys = all_reduce_keys};
inline constexpr Group broadcast_options{.title = "broadcast", .about = "a collective", .keys = rooted_keys};
inline constexpr Group reduce_options{.title = "reduce", .about = "a collective", .keys = reduce_keys};
inline constexpr Group all_gather_options{.title = "all_gather", .about = "a collective", .keys = gathering_keys};
inline constexpr Group gather_options{.title = "gather", .about = "a collective", .keys = rooted_keys};
inline constexpr Group scatter_options{.title = "scatter", .about = "a collective", .keys = rooted_keys};
inline constexpr Group reduce_scatter_options{
    .title = "reduce_scatter", .about = "a collective", .keys = all_reduce_keys};
inline constexpr Group all_to_all_options{.title = "all_to_all", .about = "a collective", .keys = gathering_keys};
inline constexpr Group scan_options{.title = "scan", .about = "a collective", .keys = all_reduce_keys};
inline constexpr Group exscan_options{.title = "exscan", .about = "a collective", .keys = all_reduce_keys};
inline constexpr Group all_gather_v_options{.title = "all_gather_v", .about = "a collective", .keys = uneven_keys};
inline constexpr Group reduce_scatter_v_options{
    .title = "reduce_scatter_v", .about = "a collective", .keys = uneven_reduce_keys};
inline constexpr Group all_to_all_v_options{.title = "all_to_all_v", .about = "a collective", .keys = uneven_keys};
inline constexpr Group monitored_barrier_options{
    .title = "monitored_barrier", .about = "a barrier that names who is missing", .keys = monitored_barrier_keys};
inline constexpr Group send_options{.title = "send", .about = "a message to one rank", .keys = send_keys};
inline constexpr Group recv_options{.title = "recv", .about = "a message from one rank", .keys = recv_keys};
inline constexpr Group batch_options{
    .title = "batch_isend_irecv", .about = "several messages at once", .keys = batch_keys};
inline constexpr Group new_group_options{
    .title = "new_group", .about = "a process group of some ranks", .keys = new_group_keys};
inline constexpr Group destroy_options{
    .title = "destroy", .about = "destroy_process_group; of world, every group", .keys = destroy_keys};
inline constexpr Group wait_options{.title = "wait", .about = "waits for an asynchronous operation", .keys = wait_keys};
inline constexpr Group compute_options{
    .title = "compute", .about = "time that passes on this rank", .keys = compute_keys};
inline constexpr Group checkpoint_options{
    .title = "checkpoint", .about = "saves the parameters", .keys = checkpoint_keys};
inline constexpr Group load_checkpoint_options{
    .title = "load_checkpoint", .about = "loads a checkpoint", .keys = load_checkpoint_keys};
inline constexpr Group clip_options{.title = "clip_grad_norm", .about = "clips gradients", .keys = clip_keys};
inline constexpr Group relaunch_options{
    .title = "relaunch", .about = "every process ends; files stay", .keys = relaunch_keys};

inline constexpr std::array operation_table{
    Key{.name = "init",
        .shape = Shape::group,
        .about = "init_process_group: every rank joins through the store",
        .group = &init_options},
    Key{.name = "train",
        .shape = Shape::group,
        .about = "a training loop: `do`, `steps` times",
        .group = &train_options,
        .traits = needs_model | in_join},
    Key{.name = "no_sync",
        .shape = Shape::group,
        .about = "`do` without synchronising gradients, as DDP's no_sync()",
        .group = &no_sync_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "join",
        .shape = Shape::group,
        .about = "`do` with ranks that may run out of inputs, as DDP's join()",
        .group = &join_options,
        .traits = needs_model},
    Key{.name = "eval",
        .shape = Shape::group,
        .about = "a forward in eval mode without gradients",
        .group = &eval_options,
        .traits = needs_model | in_join},
    Key{.name = "zero_grad",
        .shape = Shape::group,
        .about = "sets all gradients to none",
        .group = &no_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "forward",
        .shape = Shape::group,
        .about = "a forward through the wrapper, and its loss",
        .group = &forward_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "backward",
        .shape = Shape::group,
        .about = "backward of the losses; DDP reduces the gradients",
        .group = &backward_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "optimizer_step",
        .shape = Shape::group,
        .about = "a step of the optimizer",
        .group = &no_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "clip_grad_norm",
        .shape = Shape::group,
        .about = "scales this rank's gradients down where their norm is too large",
        .group = &clip_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "barrier",
        .shape = Shape::group,
        .about = "waits until every rank has come",
        .group = &barrier_options,
        .traits = collective | in_train},
    Key{.name = "all_reduce",
        .shape = Shape::group,
        .about = "combines a tensor, every rank gets the result",
        .group = &all_reduce_options,
        .traits = collective | in_train},
    Key{.name = "broadcast",
        .shape = Shape::group,
        .about = "the root's tensor to every rank",
        .group = &broadcast_options,
        .traits = collective | in_train},
    Key{.name = "reduce",
        .shape = Shape::group,
        .about = "combines a tensor, the root gets the result",
        .group = &reduce_options,
        .traits = collective | in_train},
    Key{.name = "all_gather",
        .shape = Shape::group,
        .about = "every rank gets every rank's tensor",
        .group = &all_gather_options,
        .traits = collective | in_train},
    Key{.name = "gather",
        .shape = Shape::group,
        .about = "the root gets every rank's tensor",
        .group = &gather_options,
        .traits = collective | in_train},
    Key{.name = "scatter",
        .shape = Shape::group,
        .about = "a part of the root's tensor to each rank",
        .group = &scatter_options,
        .traits = collective | in_train},
    Key{.name = "reduce_scatter",
        .shape = Shape::group,
        .about = "combines tensors, each rank gets a part",
        .group = &reduce_scatter_options,
        .traits = collective | in_train},
    Key{.name = "all_to_all",
        .shape = Shape::group,
        .about = "a part of every rank's tensor to every rank",
        .group = &all_to_all_options,
        .traits = collective | in_train},
    Key{.name = "scan",
        .shape = Shape::group,
        .about = "each rank gets the combination of the ranks up to itself",
        .group = &scan_options,
        .traits = collective | in_train},
    Key{.name = "exscan",
        .shape = Shape::group,
        .about = "each rank gets the combination of the ranks before itself",
        .group = &exscan_options,
        .traits = collective | in_train},
    Key{.name = "all_gather_v",
        .shape = Shape::group,
        .about = "every rank gets every rank's tensor, of which `counts` tells the sizes",
        .group = &all_gather_v_options,
        .traits = collective | in_train},
    Key{.name = "reduce_scatter_v",
        .shape = Shape::group,
        .about = "combines tensors, rank r of the group gets counts[r] elements",
        .group = &reduce_scatter_v_options,
        .traits = collective | in_train},
    Key{.name = "all_to_all_v",
        .shape = Shape::group,
        .about = "every rank sends counts[r] elements to rank r of the group",
        .group = &all_to_all_v_options,
        .traits = collective | in_train},
    Key{.name = "monitored_barrier",
        .shape = Shape::group,
        .about = "a barrier whose first rank names who does not come in time",
        .group = &monitored_barrier_options,
        .traits = collective | in_train},
    Key{.name = "send",
        .shape = Shape::group,
        .about = "a message to `peer`",
        .group = &send_options,
        .traits = in_train | point_to_point},
    Key{.name = "recv",
        .shape = Shape::group,
        .about = "a message from `peer`",
        .group = &recv_options,
        .traits = in_train | point_to_point},
    Key{.name = "batch_isend_irecv",
        .shape = Shape::group,
        .about = "sends and receives started together, then waited for",
        .group = &batch_options,
        .traits = in_train},
    Key{.name = "new_group",
        .shape = Shape::group,
        .about = "makes a group of some ranks; every rank of the world calls it, in one order",
        .group = &new_group_options,
        .traits = collective},
    Key{.name = "wait",
        .shape = Shape::group,
        .about = "waits for an asynchronous operation",
        .group = &wait_options,
        .traits = in_train},
    Key{.name = "compute",
        .shape = Shape::group,
        .about = "the rank computes for a while",
        .group = &compute_options,
        .traits = in_train},
    Key{.name = "checkpoint",
        .shape = Shape::group,
        .about = "writes parameters and buffers to a file",
        .group = &checkpoint_options,
        .traits = needs_model},
    Key{.name = "load_checkpoint",
        .shape = Shape::group,
        .about = "reads parameters and buffers from a file",
        .group = &load_checkpoint_options,
        .traits = needs_model},
    Key{.name = "relaunch",
        .shape = Shape::group,
        .about = "every process ends and a new launch begins; files stay",
        .group = &relaunch_options},
    Key{.name = "destroy", .shape = Shape::group, .about = "destroy_process_group", .group = &destroy_options},
};

constexpr const Key* operation_named(std::string_view name) { return find(operation_table, name); }

}  // namespace pdsim::scenarios::language
