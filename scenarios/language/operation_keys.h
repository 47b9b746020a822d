// The options of every other operation: what stands behind its name. For the table in operations_table.h alone.
#pragma once

#include "scenarios/language/bind.h"
#include "scenarios/language/collective_keys.h"
#include "scenarios/language/limits.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 3> init_methods{"tcp", "env", "file"};
inline constexpr std::array<std::string_view, 2> file_stores{"c10d", "gloo"};
inline constexpr std::array<std::string_view, 4> launcher_variables{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
inline constexpr std::array<std::string_view, 2> eval_targets{"ddp", "module"};
inline constexpr std::array<std::string_view, 2> norm_types{"2", "inf"};
inline constexpr std::array<std::string_view, 1> times_words{"world_size"};

inline constexpr std::array init_keys{
    Key{.name = "method",
        .type = Type::word,
        .help = "how the ranks find each other",
        .choices = init_methods,
        .bind = to<&InitOptions::method>},
    Key{.name = "path",
        .type = Type::text,
        .help = "method file: the store's file, or the folder of gloo's",
        .bind = to<&InitOptions::path>},
    Key{.name = "file_store",
        .type = Type::word,
        .help = "method file: c10d's, one file that is appended to, or Gloo's own, a folder with a file per key",
        .choices = file_stores,
        .bind = to<&InitOptions::file_store>},
    Key{.name = "unset",
        .type = Type::word,
        .help = "method env: the variable that nobody has set for this process",
        .choices = launcher_variables,
        .bind = to<&InitOptions::unset>},
    Key{.name = "world_size",
        .type = Type::integer,
        .help = "how many ranks it waits for; default: as many as there are",
        .low = 1,
        .high = limits::ranks,
        .bind = to<&InitOptions::world_size>},
    Key{.name = "interfaces",
        .type = Type::integer,
        .help = "how many GLOO_SOCKET_IFNAME names; gloo connects all ranks over each",
        .low = 1,
        .high = 16,
        .bind = to<&InitOptions::interfaces>},
    Key{.name = "address",
        .type = Type::text,
        .help = "method tcp: tcp://host:port; default is the world's own store",
        .bind = to<&InitOptions::address>},
    Key{.name = "rank",
        .type = Type::integer,
        .help = "which rank this process says it is, as RANK does; local_rank: its place in its node. Simulated worlds "
                "only; default: the one that it is",
        .choices = local_rank_words,
        .high = limits::ranks,
        .bind = to<&InitOptions::rank>},
    Key{.name = "port",
        .type = Type::integer,
        .help = "MASTER_PORT: processes meet those of the same port. Simulated worlds only",
        .low = 1,
        .high = 65535,
        .bind = to<&InitOptions::port>},
};
inline constexpr std::array train_keys{
    Key{.name = "steps",
        .type = Type::integer,
        .help = "how often `do` runs",
        .required = true,
        .high = limits::steps,
        .bind = to<&TrainOptions::steps>},
    Key{.name = "do",
        .type = Type::operations,
        .help = "one step",
        .default_value = "[zero_grad, forward, backward, optimizer_step]",
        .traits = in_train},
};
inline constexpr std::array repeat_keys{
    Key{.name = "times",
        .type = Type::integer,
        .help = "how often `do` runs; outside of train its rounds are the steps of `when`",
        .required = true,
        .high = limits::steps,
        .bind = to<&RepeatOptions::times>},
    Key{.name = "do", .type = Type::operations, .help = "one round", .required = true, .traits = as_around},
};
inline constexpr std::array no_sync_keys{
    Key{.name = "do",
        .type = Type::operations,
        .help = "what runs inside; its forwards decide that their backwards are not synchronised",
        .required = true,
        .traits = in_train},
};
inline constexpr std::array join_keys{
    Key{.name = "enable",
        .type = Type::boolean,
        .help = "false: `do` runs as if there were no join around it",
        .bind = to<&JoinOptions::enable>},
    Key{.name = "throw_on_early_termination",
        .type = Type::boolean,
        .help = "every rank raises as soon as one has no more inputs",
        .bind = to<&JoinOptions::throw_on_early_termination>},
    Key{.name = "divide_by_initial_world_size",
        .type = Type::boolean,
        .help = "false: gradients are divided by the number of ranks that still have inputs",
        .bind = to<&JoinOptions::divide_by_initial_world_size>},
    Key{.name = "do",
        .type = Type::operations,
        .help = "what runs inside, with `when` for each rank's number of steps",
        .required = true,
        .traits = in_join},
};
inline constexpr std::array eval_keys{
    Key{.name = "through",
        .type = Type::word,
        .help = "whose forward: the wrapper's, which broadcasts buffers, or the module's",
        .choices = eval_targets,
        .bind = to<&EvalOptions::through>},
    Key{.name = "steps",
        .type = Type::integer,
        .help = "how many forwards",
        .low = 1,
        .high = limits::steps,
        .bind = to<&EvalOptions::steps>},
};
inline constexpr std::array forward_keys{
    Key{.name = "input",
        .type = Type::name,
        .help = "name of the batch; every name is a batch of its own",
        .bind = to<&ForwardOptions::input>},
    Key{.name = "output",
        .type = Type::name,
        .help = "name of its loss, for backward",
        .bind = to<&ForwardOptions::output>},
    Key{.name = "path",
        .type = Type::name,
        .help = "path of the model; default is what `takes` says",
        .bind = to<&ForwardOptions::path>},
    Key{.name = "rows",
        .type = Type::integer,
        .help = "of this batch, 0 too; default: `batch`",
        .high = 65536,
        .bind = to<&ForwardOptions::rows>},
    Key{.name = "through",
        .type = Type::word,
        .help = "whose forward: the wrapper's, or the module's, of which DDP learns nothing",
        .choices = eval_targets,
        .bind = to<&ForwardOptions::through>},
};
inline constexpr std::array backward_keys{
    Key{.name = "losses",
        .type = Type::names,
        .help = "outputs whose losses are added up",
        .bind = to<&BackwardOptions::losses>},
    Key{.name = "times",
        .type = Type::integer,
        .help = "what the losses are multiplied by",
        .choices = times_words,
        .low = 1,
        .high = limits::ranks,
        .bind = to<&BackwardOptions::times>},
    Key{.name = "divided_by",
        .type = Type::integer,
        .help = "what the losses are divided by, as in (loss / k).backward()",
        .low = 1,
        .high = limits::steps,
        .bind = to<&BackwardOptions::divided_by>},
};
inline constexpr std::array new_group_keys{
    Key{.name = "name",
        .type = Type::name,
        .help = "what `group` calls it",
        .required = true,
        .bind = to<&NewGroupOptions::name>},
    Key{.name = "ranks",
        .type = Type::int_set,
        .help = "its members, ranks of the world",
        .required = true,
        .bind = to<&NewGroupOptions::ranks>},
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "of its operations; default: the world's",
        .bind = to<&NewGroupOptions::timeout>},
};
inline constexpr std::array monitored_barrier_keys{
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "how long rank 0 of the group waits for each rank; default: the group's",
        .bind = to<&MonitoredBarrierOptions::timeout>},
    Key{.name = "wait_all_ranks",
        .type = Type::boolean,
        .help = "name every missing rank, not the first one",
        .bind = to<&MonitoredBarrierOptions::wait_all_ranks>},
    bound(group_key, to<&MonitoredBarrierOptions::group>),
};
inline constexpr std::array destroy_keys{bound(group_key, to<&DestroyOptions::group>)};
inline constexpr std::array wait_keys{
    Key{.name = "for",
        .type = Type::name,
        .help = "label of an earlier operation with `async: true`",
        .required = true,
        .bind = to<&WaitOptions::label>},
};
inline constexpr std::array read_keys{
    Key{.name = "of",
        .type = Type::name,
        .help = "label of an earlier collective or recv",
        .required = true,
        .bind = to<&ReadOptions::label>},
    Key{.name = "non_blocking",
        .type = Type::boolean,
        .help = "as a copy to the host that does not wait for the stream; false: as `.item()`, which does",
        .bind = to<&ReadOptions::non_blocking>},
};
inline constexpr std::array write_keys{
    Key{.name = "to",
        .type = Type::name,
        .help = "label of an earlier operation with `async: true`",
        .required = true,
        .bind = to<&WriteOptions::label>},
};
inline constexpr std::array set_device_keys{
    Key{.name = "index",
        .type = Type::integer,
        .help = "of the GPU within the node; local_rank: this rank's place in it",
        .required = true,
        .choices = local_rank_words,
        .high = 63,
        .bind = to<&SetDeviceOptions::index>},
};
inline constexpr std::array raise_keys{
    Key{.name = "message",
        .type = Type::text,
        .help = "what the exception says",
        .required = true,
        .bind = to<&RaiseOptions::message>},
};
inline constexpr Key store_key{
    .name = "key", .type = Type::text, .help = "the key, as the program writes it", .required = true};
inline constexpr std::array store_set_keys{
    bound(store_key, to<&StoreSetOptions::key>),
    Key{.name = "value",
        .type = Type::text,
        .help = "what it gets",
        .required = true,
        .bind = to<&StoreSetOptions::value>},
};
inline constexpr std::array store_get_keys{
    bound(store_key, to<&StoreGetOptions::key>),
    Key{.name = "timeout",
        .type = Type::duration,
        .help = "how long it waits; default: the store's",
        .bind = to<&StoreGetOptions::timeout>},
};
inline constexpr std::array store_add_keys{
    bound(store_key, to<&StoreAddOptions::key>),
    Key{.name = "by", .type = Type::integer, .help = "how much", .bind = to<&StoreAddOptions::by>},
};
inline constexpr std::array compute_keys{
    Key{.name = "time",
        .type = Type::duration,
        .help = "how long the rank computes",
        .required = true,
        .bind = to<&ComputeOptions::time>},
    Key{.name = "device",
        .type = Type::word,
        .help = "cuda: a kernel, behind which the program does not wait where the world has `streams`",
        .choices = device_words,
        .bind = to<&ComputeOptions::device>},
};
inline constexpr Key model_part_key{
    .name = "part", .type = Type::name, .help = "which of the model's `parts`; needed where there are some"};
inline constexpr std::array checkpoint_keys{
    Key{.name = "path",
        .type = Type::text,
        .help = "the file that gets parameters and buffers",
        .required = true,
        .bind = to<&CheckpointOptions::path>},
    Key{.name = "takes",
        .type = Type::duration,
        .help = "how long it writes; until then the file is cut short, and who else writes it begins anew",
        .bind = to<&CheckpointOptions::takes>},
    Key{.name = "of",
        .type = Type::word,
        .help = "whose state_dict: the module's, or the wrapper's, whose keys begin with `module.`",
        .choices = eval_targets,
        .bind = to<&CheckpointOptions::of>},
    bound(model_part_key, to<&CheckpointOptions::part>),
};
inline constexpr std::array load_checkpoint_keys{
    Key{.name = "path",
        .type = Type::text,
        .help = "the file that checkpoint wrote",
        .required = true,
        .bind = to<&LoadCheckpointOptions::path>},
    Key{.name = "into",
        .type = Type::word,
        .help = "whose load_state_dict: the module's, or the wrapper's, which wants keys that begin with `module.`",
        .choices = eval_targets,
        .bind = to<&LoadCheckpointOptions::into>},
    Key{.name = "strict",
        .type = Type::boolean,
        .help = "missing and unexpected keys are errors",
        .bind = to<&LoadCheckpointOptions::strict>},
    bound(model_part_key, to<&LoadCheckpointOptions::part>),
};
inline constexpr std::array requires_grad_keys{
    Key{.name = "layers",
        .type = Type::names,
        .help = "whose parameters",
        .required = true,
        .bind = to<&RequiresGradOptions::layers>},
    Key{.name = "to",
        .type = Type::boolean,
        .help = "false freezes them; true lets them train again",
        .required = true,
        .bind = to<&RequiresGradOptions::to>},
};
inline constexpr std::array clip_keys{
    Key{.name = "max_norm",
        .type = Type::decimal,
        .help = "of all gradients together",
        .bind = to<&ClipOptions::max_norm>},
    Key{.name = "norm_type",
        .type = Type::word,
        .help = "of the square root of squares, or the largest",
        .choices = norm_types,
        .bind = to<&ClipOptions::norm_type>},
    Key{.name = "error_if_nonfinite",
        .type = Type::boolean,
        .help = "a norm that is NaN or infinite is an error",
        .bind = to<&ClipOptions::error_if_nonfinite>},
    bound(model_part_key, to<&ClipOptions::part>),
};
inline constexpr std::array relaunch_keys{
    Key{.name = "clean",
        .type = Type::boolean,
        .help = "remove store files, as an orderly end does",
        .bind = to<&RelaunchOptions::clean>},
};

}  // namespace pdsim::scenarios::language
