// THE table of operations: what may stand in `program`, and in the `do` of train.
//
// Adding one: a row here, or in rpc_operations.h, and a function in operations.cpp of that name. Loader, schema, `pdsim list` and the rank x step
// table take names, options, defaults and explanations from here.
#pragma once

#include "core/collectives/collective_kind.h"
#include "scenarios/language/tables/operation_keys.h"
#include "scenarios/language/tables/rpc_operations.h"

#include <array>
#include <optional>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr Group init_options{
    .title = "init_process_group", .help = "init_process_group", .keys = init_keys, .options = options_of<InitOptions>};
inline constexpr Group train_options{
    .title = "train", .help = "a training loop", .keys = train_keys, .options = options_of<TrainOptions>};
inline constexpr Group repeat_options{
    .title = "repeat", .help = "a loop", .keys = repeat_keys, .options = options_of<RepeatOptions>};
inline constexpr Group no_sync_options{
    .title = "no_sync", .help = "DDP's context for accumulating gradients", .keys = no_sync_keys};
inline constexpr Group join_options{.title = "join",
                                    .help = "DDP's context for ranks with different numbers of inputs",
                                    .keys = join_keys,
                                    .options = options_of<JoinOptions>};
inline constexpr Group eval_options{
    .title = "eval", .help = "a forward without gradients", .keys = eval_keys, .options = options_of<EvalOptions>};
inline constexpr Group no_options{.title = "", .help = "takes no options"};
inline constexpr Group forward_options{.title = "forward",
                                       .help = "a forward of the model and its loss",
                                       .keys = forward_keys,
                                       .options = options_of<ForwardOptions>};
inline constexpr Group backward_options{.title = "backward",
                                        .help = "backward of the losses",
                                        .keys = backward_keys,
                                        .options = options_of<BackwardOptions>};
inline constexpr Group barrier_options{
    .title = "barrier", .help = "a barrier", .keys = barrier_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group all_reduce_options{
    .title = "all_reduce", .help = "a collective", .keys = all_reduce_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group broadcast_options{
    .title = "broadcast", .help = "a collective", .keys = from_one_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group reduce_options{
    .title = "reduce", .help = "a collective", .keys = reduce_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group all_gather_options{
    .title = "all_gather", .help = "a collective", .keys = gathering_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group gather_options{
    .title = "gather", .help = "a collective", .keys = to_one_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group scatter_options{
    .title = "scatter", .help = "a collective", .keys = from_one_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group reduce_scatter_options{.title = "reduce_scatter",
                                              .help = "a collective",
                                              .keys = reduce_like_keys,
                                              .options = options_of<CollectiveOptions>};
inline constexpr Group all_to_all_options{
    .title = "all_to_all", .help = "a collective", .keys = gathering_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group scan_options{
    .title = "scan", .help = "a collective", .keys = reduce_like_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group exscan_options{
    .title = "exscan", .help = "a collective", .keys = reduce_like_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group all_gather_v_options{
    .title = "all_gather_v", .help = "a collective", .keys = uneven_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group reduce_scatter_v_options{.title = "reduce_scatter_v",
                                                .help = "a collective",
                                                .keys = uneven_reduce_keys,
                                                .options = options_of<CollectiveOptions>};
inline constexpr Group all_gather_into_tensor_options{.title = "all_gather_into_tensor",
                                                      .help = "a collective",
                                                      .keys = gathering_keys,
                                                      .options = options_of<CollectiveOptions>};
inline constexpr Group reduce_scatter_tensor_options{.title = "reduce_scatter_tensor",
                                                     .help = "a collective",
                                                     .keys = reduce_like_keys,
                                                     .options = options_of<CollectiveOptions>};
inline constexpr Group all_to_all_single_options{.title = "all_to_all_single",
                                                 .help = "a collective",
                                                 .keys = all_to_all_single_keys,
                                                 .options = options_of<CollectiveOptions>};
inline constexpr Group broadcast_object_list_options{.title = "broadcast_object_list",
                                                     .help = "an object collective",
                                                     .keys = object_from_one_keys,
                                                     .options = options_of<CollectiveOptions>};
inline constexpr Group all_gather_object_options{.title = "all_gather_object",
                                                 .help = "an object collective",
                                                 .keys = object_keys,
                                                 .options = options_of<CollectiveOptions>};
inline constexpr Group gather_object_options{.title = "gather_object",
                                             .help = "an object collective",
                                             .keys = object_to_one_keys,
                                             .options = options_of<CollectiveOptions>};
inline constexpr Group scatter_object_list_options{.title = "scatter_object_list",
                                                   .help = "an object collective",
                                                   .keys = object_from_one_keys,
                                                   .options = options_of<CollectiveOptions>};
inline constexpr Group monitored_barrier_options{.title = "monitored_barrier",
                                                 .help = "a barrier that names who is missing",
                                                 .keys = monitored_barrier_keys,
                                                 .options = options_of<MonitoredBarrierOptions>};
inline constexpr Group send_options{
    .title = "send", .help = "a message to one rank", .keys = isend_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group recv_options{
    .title = "recv", .help = "a message from one rank", .keys = irecv_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group isend_options{
    .title = "isend", .help = "a message to one rank", .keys = isend_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group irecv_options{
    .title = "irecv", .help = "a message from one rank", .keys = irecv_keys, .options = options_of<CollectiveOptions>};
inline constexpr Group batch_options{.title = "batch_isend_irecv",
                                     .help = "several messages at once",
                                     .keys = batch_keys,
                                     .options = options_of<BatchOptions>};
inline constexpr Group pipeline_options{.title = "pipeline",
                                        .help = "a pipeline-parallel step",
                                        .keys = pipeline_keys,
                                        .options = options_of<PipelineOptions>};
inline constexpr Group new_group_options{.title = "new_group",
                                         .help = "a process group of some ranks",
                                         .keys = new_group_keys,
                                         .options = options_of<NewGroupOptions>};
inline constexpr Group destroy_options{.title = "destroy_process_group",
                                       .help = "destroy_process_group; of world, every group",
                                       .keys = destroy_keys,
                                       .options = options_of<DestroyOptions>};
inline constexpr Group wait_options{.title = "wait",
                                    .help = "waits for an asynchronous operation",
                                    .keys = wait_keys,
                                    .options = options_of<WaitOptions>};
inline constexpr Group compute_options{.title = "compute",
                                       .help = "time that passes on this rank",
                                       .keys = compute_keys,
                                       .options = options_of<ComputeOptions>};
inline constexpr Group checkpoint_options{.title = "checkpoint",
                                          .help = "saves the parameters",
                                          .keys = checkpoint_keys,
                                          .options = options_of<CheckpointOptions>};
inline constexpr Group load_checkpoint_options{.title = "load_checkpoint",
                                               .help = "loads a checkpoint",
                                               .keys = load_checkpoint_keys,
                                               .options = options_of<LoadCheckpointOptions>};
inline constexpr Group optimizer_step_options{.title = "optimizer_step",
                                              .help = "a step of the optimizer",
                                              .keys = optimizer_step_keys,
                                              .options = options_of<OptimizerStepOptions>};
inline constexpr Group clip_options{
    .title = "clip_grad_norm", .help = "clips gradients", .keys = clip_keys, .options = options_of<ClipOptions>};
inline constexpr Group requires_grad_options{.title = "requires_grad",
                                             .help = "parameter.requires_grad_(to)",
                                             .keys = requires_grad_keys,
                                             .options = options_of<RequiresGradOptions>};
inline constexpr Group relaunch_options{.title = "relaunch",
                                        .help = "every process ends; files stay",
                                        .keys = relaunch_keys,
                                        .options = options_of<RelaunchOptions>};

inline constexpr Group set_device_options{.title = "set_device",
                                          .help = "torch.cuda.set_device",
                                          .keys = set_device_keys,
                                          .options = options_of<SetDeviceOptions>};
inline constexpr Group read_options{
    .title = "read", .help = "uses the result of an operation", .keys = read_keys, .options = options_of<ReadOptions>};
inline constexpr Group write_options{.title = "write",
                                     .help = "overwrites the tensor of an asynchronous operation",
                                     .keys = write_keys,
                                     .options = options_of<WriteOptions>};
inline constexpr Group raise_options{.title = "raise",
                                     .help = "an exception of the program's own",
                                     .keys = raise_keys,
                                     .options = options_of<RaiseOptions>};
inline constexpr Group store_set_options{
    .title = "store_set", .help = "store.set", .keys = store_set_keys, .options = options_of<StoreSetOptions>};
inline constexpr Group store_get_options{
    .title = "store_get", .help = "store.get", .keys = store_get_keys, .options = options_of<StoreGetOptions>};
inline constexpr Group store_add_options{
    .title = "store_add", .help = "store.add", .keys = store_add_keys, .options = options_of<StoreAddOptions>};
inline constexpr Group store_wait_options{
    .title = "store_wait", .help = "store.wait", .keys = store_get_keys, .options = options_of<StoreGetOptions>};

inline constexpr std::array group_operations{
    Key{.name = "init_process_group",
        .type = Type::group,
        .help = "init_process_group: every rank joins through the store",
        .group = &init_options,
        .formerly = "init"},
    Key{.name = "train",
        .type = Type::group,
        .help = "a training loop: `do`, `steps` times",
        .group = &train_options,
        .traits = needs_model | in_join},
    Key{.name = "repeat",
        .type = Type::group,
        .help = "`do`, `times` times; needs no model, and may stand in itself, train and join",
        .group = &repeat_options,
        .traits = in_train | in_join},
    Key{.name = "no_sync",
        .type = Type::group,
        .help = "`do` without synchronising gradients, as DDP's no_sync()",
        .group = &no_sync_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "join",
        .type = Type::group,
        .help = "`do` with ranks that may run out of inputs, as DDP's join()",
        .group = &join_options,
        .traits = needs_model},
    Key{.name = "eval",
        .type = Type::group,
        .help = "a forward in eval mode without gradients",
        .group = &eval_options,
        .traits = needs_model | in_join},
    Key{.name = "zero_grad",
        .type = Type::group,
        .help = "sets all gradients to none",
        .group = &no_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "forward",
        .type = Type::group,
        .help = "a forward through the wrapper, and its loss",
        .group = &forward_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "backward",
        .type = Type::group,
        .help = "backward of the losses; DDP reduces the gradients",
        .group = &backward_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "optimizer_step",
        .type = Type::group,
        .help = "a step of the optimizer",
        .group = &optimizer_step_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "clip_grad_norm",
        .type = Type::group,
        .help = "scales this rank's gradients down where their norm is too large",
        .group = &clip_options,
        .traits = in_train | only_in_train | needs_model},
    Key{.name = "requires_grad",
        .type = Type::group,
        .help = "freezes layers, or lets them train again, without the wrapper noticing",
        .group = &requires_grad_options,
        .traits = in_train | needs_model},
    Key{.name = "barrier",
        .type = Type::group,
        .help = "waits until every rank has come",
        .group = &barrier_options,
        .traits = collective | in_train},
    Key{.name = "all_reduce",
        .type = Type::group,
        .help = "combines a tensor, every rank gets the result",
        .group = &all_reduce_options,
        .traits = collective | in_train},
    Key{.name = "broadcast",
        .type = Type::group,
        .help = "the tensor of rank `src` to every rank",
        .group = &broadcast_options,
        .traits = collective | in_train},
    Key{.name = "reduce",
        .type = Type::group,
        .help = "combines a tensor, rank `dst` gets the result",
        .group = &reduce_options,
        .traits = collective | in_train},
    Key{.name = "all_gather",
        .type = Type::group,
        .help = "every rank gets every rank's tensor",
        .group = &all_gather_options,
        .traits = collective | in_train},
    Key{.name = "all_gather_into_tensor",
        .type = Type::group,
        .help = "all_gather whose output is one tensor",
        .group = &all_gather_into_tensor_options,
        .traits = collective | in_train},
    Key{.name = "gather",
        .type = Type::group,
        .help = "rank `dst` gets every rank's tensor",
        .group = &gather_options,
        .traits = collective | in_train},
    Key{.name = "scatter",
        .type = Type::group,
        .help = "a part of the tensor of rank `src` to each rank",
        .group = &scatter_options,
        .traits = collective | in_train},
    Key{.name = "reduce_scatter",
        .type = Type::group,
        .help = "combines tensors, each rank gets a part",
        .group = &reduce_scatter_options,
        .traits = collective | in_train},
    Key{.name = "reduce_scatter_tensor",
        .type = Type::group,
        .help = "reduce_scatter whose input is one tensor",
        .group = &reduce_scatter_tensor_options,
        .traits = collective | in_train},
    Key{.name = "all_to_all",
        .type = Type::group,
        .help = "a part of every rank's tensor to every rank",
        .group = &all_to_all_options,
        .traits = collective | in_train},
    Key{.name = "all_to_all_single",
        .type = Type::group,
        .help = "all_to_all of one tensor, whose parts may differ in size",
        .group = &all_to_all_single_options,
        .formerly = "all_to_all_v",
        .traits = collective | in_train},
    Key{.name = "scan",
        .type = Type::group,
        .help = "each rank gets the combination of the ranks up to itself",
        .group = &scan_options,
        .traits = collective | in_train},
    Key{.name = "exscan",
        .type = Type::group,
        .help = "each rank gets the combination of the ranks before itself",
        .group = &exscan_options,
        .traits = collective | in_train},
    Key{.name = "broadcast_object_list",
        .type = Type::group,
        .help = "objects of rank `src` to every rank: their sizes, then their bytes",
        .group = &broadcast_object_list_options,
        .traits = collective | in_train},
    Key{.name = "all_gather_object",
        .type = Type::group,
        .help = "every rank gets every rank's object: the sizes, then the bytes, padded to the largest",
        .group = &all_gather_object_options,
        .traits = collective | in_train},
    Key{.name = "gather_object",
        .type = Type::group,
        .help = "rank `dst` gets every rank's object: the sizes to all, then the bytes",
        .group = &gather_object_options,
        .traits = collective | in_train},
    Key{.name = "scatter_object_list",
        .type = Type::group,
        .help = "an object of rank `src` to each rank: the largest size, the bytes, the sizes",
        .group = &scatter_object_list_options,
        .traits = collective | in_train},
    Key{.name = "all_gather_v",
        .type = Type::group,
        .help = "every rank gets every rank's tensor, of which `counts` tells the sizes",
        .group = &all_gather_v_options,
        .traits = collective | in_train},
    Key{.name = "reduce_scatter_v",
        .type = Type::group,
        .help = "combines tensors, rank r of the group gets counts[r] elements",
        .group = &reduce_scatter_v_options,
        .traits = collective | in_train},
    Key{.name = "monitored_barrier",
        .type = Type::group,
        .help = "a barrier whose first rank names who does not come in time",
        .group = &monitored_barrier_options,
        .traits = collective | in_train},
    Key{.name = "send",
        .type = Type::group,
        .help = "a message to rank `dst`",
        .group = &send_options,
        .traits = in_train | point_to_point},
    Key{.name = "recv",
        .type = Type::group,
        .help = "a message from rank `src`",
        .group = &recv_options,
        .traits = in_train | point_to_point},
    Key{.name = "isend",
        .type = Type::group,
        .help = "send that returns at once; `wait: {for: label}` waits for it",
        .group = &isend_options,
        .traits = in_train | point_to_point | asynchronous},
    Key{.name = "irecv",
        .type = Type::group,
        .help = "recv that returns at once; `wait: {for: label}` waits for it",
        .group = &irecv_options,
        .traits = in_train | point_to_point | asynchronous},
    Key{.name = "batch_isend_irecv",
        .type = Type::group,
        .help = "sends and receives started together, then waited for",
        .group = &batch_options,
        .traits = in_train},
    Key{.name = "pipeline",
        .type = Type::group,
        .help = "forwards and backwards of micro-batches through the stages of a pipeline, by a schedule",
        .group = &pipeline_options,
        .traits = in_train},
    Key{.name = "new_group",
        .type = Type::group,
        .help = "makes a group of some ranks; every rank of the world calls it, in one order",
        .group = &new_group_options,
        .traits = collective},
    Key{.name = "wait",
        .type = Type::group,
        .help = "waits for an asynchronous operation",
        .group = &wait_options,
        .traits = in_train},
    Key{.name = "synchronize",
        .type = Type::group,
        .help = "torch.cuda.synchronize: the program waits for its own device, and exchanges nothing",
        .group = &no_options,
        .traits = in_train},
    Key{.name = "read",
        .type = Type::group,
        .help = "uses the result of an operation, waited for or not",
        .group = &read_options,
        .traits = in_train},
    Key{.name = "write",
        .type = Type::group,
        .help = "overwrites the tensor that an asynchronous operation sends, on its way or not",
        .group = &write_options,
        .traits = in_train},
    Key{.name = "compute",
        .type = Type::group,
        .help = "the rank computes for a while",
        .group = &compute_options,
        .traits = in_train},
    Key{.name = "checkpoint",
        .type = Type::group,
        .help = "writes parameters and buffers to a file",
        .group = &checkpoint_options,
        .traits = needs_model},
    Key{.name = "load_checkpoint",
        .type = Type::group,
        .help = "reads parameters and buffers from a file",
        .group = &load_checkpoint_options,
        .traits = needs_model},
    Key{.name = "relaunch",
        .type = Type::group,
        .help = "every process ends and a new launch begins; files stay",
        .group = &relaunch_options},
    Key{.name = "set_device",
        .type = Type::group,
        .help = "chooses the GPU of this process; before, it is GPU 0 where `world.devices` counts them",
        .group = &set_device_options},
    Key{.name = "raise",
        .type = Type::group,
        .help = "an exception of the program's own, which nobody catches",
        .group = &raise_options,
        .traits = in_train},
    Key{.name = "store_set",
        .type = Type::group,
        .help = "sets a key of the store that init_process_group opened",
        .group = &store_set_options,
        .traits = in_train},
    Key{.name = "store_get",
        .type = Type::group,
        .help = "reads a key of the store, and waits until somebody has set it",
        .group = &store_get_options,
        .traits = in_train},
    Key{.name = "store_add",
        .type = Type::group,
        .help = "adds to a counter of the store",
        .group = &store_add_options,
        .traits = in_train},
    Key{.name = "store_wait",
        .type = Type::group,
        .help = "waits until somebody has set a key of the store",
        .group = &store_wait_options,
        .traits = in_train},
    Key{.name = "destroy_process_group",
        .type = Type::group,
        .help = "destroy_process_group",
        .group = &destroy_options,
        .formerly = "destroy"},
};

inline constexpr auto operation_table = joined(group_operations, rpc_operations);

constexpr const Key* operation_named(std::string_view name) { return find(operation_table, name); }

// The collective that an operation is, or nothing for one that is none or several. `uneven`: its parts differ in size.
constexpr std::optional<CollectiveKind> collective_of(std::string_view operation, bool uneven = false) {
  if (operation == "isend") operation = "send";
  if (operation == "irecv") operation = "recv";
  if (operation == "all_gather_into_tensor") operation = "all_gather";
  if (operation == "reduce_scatter_tensor") operation = "reduce_scatter";
  if (operation == "all_to_all_single") operation = uneven ? "all_to_all_v" : "all_to_all";
  const CollectiveRow* row = collective_named(operation);
  if (row == nullptr || row->kind == CollectiveKind::monitored_barrier) return std::nullopt;
  return row->kind;
}

struct ObjectCollectives {
  std::string_view operation;
  std::array<CollectiveKind, 3> kinds;
  std::size_t count;
};
inline constexpr std::array object_collectives{
    ObjectCollectives{"broadcast_object_list", {CollectiveKind::broadcast, CollectiveKind::broadcast}, 2},
    ObjectCollectives{"all_gather_object", {CollectiveKind::all_gather, CollectiveKind::all_gather}, 2},
    ObjectCollectives{"gather_object", {CollectiveKind::all_gather, CollectiveKind::gather}, 2},
    ObjectCollectives{
        "scatter_object_list", {CollectiveKind::broadcast, CollectiveKind::scatter, CollectiveKind::scatter}, 3},
};

// Those of which an object collective is made, in order; none for other operations.
constexpr std::span<const CollectiveKind> collectives_of_objects(std::string_view operation) {
  for (const ObjectCollectives& row : object_collectives)
    if (row.operation == operation) return std::span(row.kinds).first(row.count);
  return {};
}

}  // namespace pdsim::scenarios::language
