// The options of every operation: what stands behind its name. For the table in operations_table.h alone.
#pragma once

#include "core/base/types.h"
#include "scenarios/engine/language/key.h"
#include "scenarios/engine/limits.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 3> init_methods{"tcp", "env", "file"};
inline constexpr std::array<std::string_view, 2> file_stores{"c10d", "gloo"};
inline constexpr std::array<std::string_view, 4> launcher_variables{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
inline constexpr std::array<std::string_view, 2> eval_targets{"ddp", "module"};
inline constexpr std::array<std::string_view, 2> norm_types{"2", "inf"};
inline constexpr std::array<std::string_view, 1> any_peer{"any"};
inline constexpr std::array<std::string_view, 2> device_words{"cpu", "cuda"};
inline constexpr std::array<std::string_view, 1> times_words{"world_size"};
inline constexpr std::array<std::string_view, 1> local_rank_words{"local_rank"};
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
    Key{.name = "path", .shape = Shape::text, .about = "method file: the store's file, or the folder of gloo's"},
    Key{.name = "file_store",
        .shape = Shape::word,
        .about = "method file: c10d's, one file that is appended to, or Gloo's own, a folder with a file per key",
        .otherwise = "c10d",
        .words = file_stores},
    Key{.name = "unset",
        .shape = Shape::word,
        .about = "method env: the variable that nobody has set for this process",
        .words = launcher_variables},
    Key{.name = "world_size",
        .shape = Shape::integer,
        .about = "how many ranks it waits for; default: as many as there are",
        .low = 1,
        .high = limits::ranks},
    Key{.name = "interfaces",
        .shape = Shape::integer,
        .about = "how many GLOO_SOCKET_IFNAME names; gloo connects all ranks over each",
        .otherwise = "1",
        .low = 1,
        .high = 16},
    Key{.name = "address",
        .shape = Shape::text,
        .about = "method tcp: tcp://host:port; default is the world's own store"},
    Key{.name = "rank",
        .shape = Shape::integer,
        .about =
            "which rank this process says it is, as RANK does; local_rank: its place in its node. Simulated worlds "
            "only; default: the one that it is",
        .words = local_rank_words,
        .high = limits::ranks},
    Key{.name = "port",
        .shape = Shape::integer,
        .about = "MASTER_PORT: processes meet those of the same port. Simulated worlds only",
        .otherwise = "29500",
        .low = 1,
        .high = 65535},
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
    Key{.name = "rows", .shape = Shape::integer, .about = "of this batch, 0 too; default: `batch`", .high = 65536},
    Key{.name = "through",
        .shape = Shape::word,
        .about = "whose forward: the wrapper's, or the module's, of which DDP learns nothing",
        .otherwise = "ddp",
        .words = eval_targets},
};
inline constexpr std::array backward_keys{
    Key{.name = "losses", .shape = Shape::names, .about = "outputs whose losses are added up", .otherwise = "[loss]"},
    Key{.name = "times",
        .shape = Shape::integer,
        .about = "what the losses are multiplied by",
        .otherwise = "1",
        .words = times_words,
        .low = 1,
        .high = limits::ranks},
    Key{.name = "divided_by",
        .shape = Shape::integer,
        .about = "what the losses are divided by, as in (loss / k).backward()",
        .otherwise = "1",
        .low = 1,
        .high = limits::steps},
};
inline constexpr Key device_key{.name = "device",
                                .shape = Shape::word,
                                .about = "where the tensor is; default: where the backend wants it",
                                .words = device_words};
inline constexpr Key stride_key{.name = "stride",
                                .shape = Shape::integer,
                                .about = "of the tensor, a view as t[::2]; 1 is contiguous",
                                .otherwise = "1",
                                .low = 1,
                                .high = 64};

inline constexpr std::array<std::string_view, 2> contiguous_words{"dropped", "copied_back"};
inline constexpr Key contiguous_key{.name = "contiguous",
                                    .shape = Shape::word,
                                    .about =
                                        "of a view: the call gets t.contiguous(), a copy; its result is dropped, or "
                                        "t.copy_(c) follows. default: it gets the view",
                                    .words = contiguous_words};

inline constexpr Key tensor_key{
    .name = "tensor",
    .shape = Shape::name,
    .about = "what it holds, for reports: ranks that pass different ones to one call mix them"};

inline constexpr std::array all_reduce_keys{count_key,     dtype_key,  op_key,     group_key,      async_key,
                                            algorithm_key, device_key, stride_key, contiguous_key, tensor_key};
inline constexpr std::array reduce_like_keys{count_key, dtype_key, op_key, group_key, async_key, algorithm_key};
inline constexpr std::array rooted_keys{count_key, dtype_key,     root_key,  group_key,
                                        async_key, algorithm_key, device_key};
inline constexpr std::array reduce_keys{count_key, dtype_key, op_key, root_key, group_key, async_key, algorithm_key};
inline constexpr std::array gathering_keys{count_key, dtype_key, group_key, async_key, algorithm_key};
inline constexpr std::array barrier_keys{
    group_key,
    async_key,
    algorithm_key,
    Key{.name = "device_ids",
        .shape = Shape::integer,
        .about =
            "the GPU that it runs on; local_rank: this rank's place in its node. default: that of earlier calls, and "
            "of a first one the rank modulo `world.devices`",
        .words = local_rank_words,
        .high = 63},
};
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
inline constexpr std::array read_keys{
    Key{.name = "of", .shape = Shape::name, .about = "label of an earlier collective or recv", .required = true},
    Key{.name = "non_blocking",
        .shape = Shape::boolean,
        .about = "as a copy to the host that does not wait for the stream; false: as `.item()`, which does",
        .otherwise = "false"},
};
inline constexpr std::array write_keys{
    Key{.name = "to",
        .shape = Shape::name,
        .about = "label of an earlier operation with `async: true`",
        .required = true},
};
inline constexpr std::array set_device_keys{
    Key{.name = "index",
        .shape = Shape::integer,
        .about = "of the GPU within the node; local_rank: this rank's place in it",
        .required = true,
        .words = local_rank_words,
        .high = 63},
};
inline constexpr std::array raise_keys{
    Key{.name = "message", .shape = Shape::text, .about = "what the exception says", .required = true},
};
inline constexpr Key store_key{
    .name = "key", .shape = Shape::text, .about = "the key, as the program writes it", .required = true};
inline constexpr std::array store_set_keys{
    store_key,
    Key{.name = "value", .shape = Shape::text, .about = "what it gets", .required = true},
};
inline constexpr std::array store_get_keys{
    store_key,
    Key{.name = "timeout", .shape = Shape::duration, .about = "how long it waits; default: the store's"},
};
inline constexpr std::array store_add_keys{
    store_key,
    Key{.name = "by", .shape = Shape::integer, .about = "how much", .otherwise = "1"},
};
inline constexpr std::array compute_keys{
    Key{.name = "time", .shape = Shape::duration, .about = "how long the rank computes", .required = true},
    Key{.name = "device",
        .shape = Shape::word,
        .about = "cuda: a kernel, behind which the program does not wait where the world has `streams`",
        .otherwise = "cpu",
        .words = device_words},
};
inline constexpr Key model_part_key{
    .name = "part", .shape = Shape::name, .about = "which of the model's `parts`; needed where there are some"};
inline constexpr std::array checkpoint_keys{
    Key{.name = "path", .shape = Shape::text, .about = "the file that gets parameters and buffers", .required = true},
    Key{.name = "takes",
        .shape = Shape::duration,
        .about = "how long it writes; until then the file is cut short, and who else writes it begins anew",
        .otherwise = "0s"},
    Key{.name = "of",
        .shape = Shape::word,
        .about = "whose state_dict: the module's, or the wrapper's, whose keys begin with `module.`",
        .otherwise = "module",
        .words = eval_targets},
    model_part_key,
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
    model_part_key,
};
inline constexpr std::array requires_grad_keys{
    Key{.name = "layers", .shape = Shape::names, .about = "whose parameters", .required = true},
    Key{.name = "to",
        .shape = Shape::boolean,
        .about = "false freezes them; true lets them train again",
        .required = true},
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
    model_part_key,
};
inline constexpr std::array relaunch_keys{
    Key{.name = "clean",
        .shape = Shape::boolean,
        .about = "remove store files, as an orderly end does",
        .otherwise = "false"},
};

}  // namespace pdsim::scenarios::language
