// THE table of operations: what may stand in `program`, and in the `do` of train.
//
// Adding one: a row here, and a function in operations.cpp of that name. Loader, schema, `pdsim list` and the rank x step
// table take names, options, defaults and explanations from here.
#pragma once

#include "scenarios/engine/operation_keys.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

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
    .title = "reduce_scatter", .about = "a collective", .keys = reduce_like_keys};
inline constexpr Group all_to_all_options{.title = "all_to_all", .about = "a collective", .keys = gathering_keys};
inline constexpr Group scan_options{.title = "scan", .about = "a collective", .keys = reduce_like_keys};
inline constexpr Group exscan_options{.title = "exscan", .about = "a collective", .keys = reduce_like_keys};
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
inline constexpr Group requires_grad_options{
    .title = "requires_grad", .about = "parameter.requires_grad_(to)", .keys = requires_grad_keys};
inline constexpr Group relaunch_options{
    .title = "relaunch", .about = "every process ends; files stay", .keys = relaunch_keys};

inline constexpr Group set_device_options{
    .title = "set_device", .about = "torch.cuda.set_device", .keys = set_device_keys};
inline constexpr Group read_options{.title = "read", .about = "uses the result of an operation", .keys = read_keys};
inline constexpr Group write_options{
    .title = "write", .about = "overwrites the tensor of an asynchronous operation", .keys = write_keys};
inline constexpr Group raise_options{
    .title = "raise", .about = "an exception of the program's own", .keys = raise_keys};
inline constexpr Group store_set_options{.title = "store_set", .about = "store.set", .keys = store_set_keys};
inline constexpr Group store_get_options{.title = "store_get", .about = "store.get", .keys = store_get_keys};
inline constexpr Group store_add_options{.title = "store_add", .about = "store.add", .keys = store_add_keys};
inline constexpr Group store_wait_options{.title = "store_wait", .about = "store.wait", .keys = store_get_keys};

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
    Key{.name = "requires_grad",
        .shape = Shape::group,
        .about = "freezes layers, or lets them train again, of which a wrapper learns nothing",
        .group = &requires_grad_options,
        .traits = in_train | needs_model},
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
    Key{.name = "synchronize",
        .shape = Shape::group,
        .about = "torch.cuda.synchronize: the program waits for its own device, and exchanges nothing",
        .group = &no_options,
        .traits = in_train},
    Key{.name = "read",
        .shape = Shape::group,
        .about = "uses the result of an operation, waited for or not",
        .group = &read_options,
        .traits = in_train},
    Key{.name = "write",
        .shape = Shape::group,
        .about = "overwrites the tensor that an asynchronous operation sends, on its way or not",
        .group = &write_options,
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
    Key{.name = "set_device",
        .shape = Shape::group,
        .about = "chooses the GPU of this process; before, it is GPU 0 where `world.devices` counts them",
        .group = &set_device_options},
    Key{.name = "raise",
        .shape = Shape::group,
        .about = "an exception of the program's own, which nobody catches",
        .group = &raise_options,
        .traits = in_train},
    Key{.name = "store_set",
        .shape = Shape::group,
        .about = "sets a key of the store that init opened",
        .group = &store_set_options,
        .traits = in_train},
    Key{.name = "store_get",
        .shape = Shape::group,
        .about = "reads a key of the store, and waits until somebody has set it",
        .group = &store_get_options,
        .traits = in_train},
    Key{.name = "store_add",
        .shape = Shape::group,
        .about = "adds to a counter of the store",
        .group = &store_add_options,
        .traits = in_train},
    Key{.name = "store_wait",
        .shape = Shape::group,
        .about = "waits until somebody has set a key of the store",
        .group = &store_wait_options,
        .traits = in_train},
    Key{.name = "destroy", .shape = Shape::group, .about = "destroy_process_group", .group = &destroy_options},
};

constexpr const Key* operation_named(std::string_view name) { return find(operation_table, name); }

}  // namespace pdsim::scenarios::language
