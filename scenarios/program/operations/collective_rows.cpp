// The operations that are one collective each, or a message: they differ in their keys alone, and `collective` runs them all.
#include "scenarios/program/operations/collectives.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"

#include <array>

namespace pdsim::scenarios::operations {

namespace {

constexpr Key op_key{.name = "op",
                            .type = Type::word,
                            .help = "how elements are combined",
                            .choices = reduce_op_names,
                            .bind = to<&CollectiveOptions::op>};

constexpr Key counts_key{.name = "counts",
                                .type = Type::counts,
                                .help = "elements of each rank's part, by rank of the group",
                                .required = true,
                                .high = limits::count,
                                .bind = to<&CollectiveOptions::counts>};

constexpr Key tag_key{.name = "tag",
                             .type = Type::integer,
                             .help = "a message matches receives with the same tag; nccl ignores tags: there the order alone matches",
                             .high = 1 << 30,
                             .bind = to<&CollectiveOptions::tag>};

constexpr Key async_key{.name = "async",
                               .type = Type::boolean,
                               .help = "return at once; `wait: {for: label}` waits for it",
                               .bind = to<&CollectiveOptions::async>};

constexpr Key algorithm_key{.name = "algorithm",
                                   .type = Type::text,
                                   .help =
                                       "auto, auto:mpich (openmpi, nccl, gloo), native, a row of "
                                       "`pdsim list --what algorithms`, or FILE.plan beside the scenario",
                                   .bind = to<&CollectiveOptions::algorithm>};

constexpr Key device_key{.name = "device",
                                .type = Type::word,
                                .help = "device of the tensor; default: the one that the backend needs",
                                .choices = enum_words<DeviceType>,
                                .bind = to<&CollectiveOptions::device>};

constexpr Key stride_key{.name = "stride",
                                .type = Type::integer,
                                .help = "stride of the tensor, a view such as t[::2]; 1 is contiguous",
                                .low = 1,
                                .high = 64,
                                .bind = to<&CollectiveOptions::stride>};

constexpr std::array<std::string_view, 2> contiguous_words{"dropped", "copied_back"};

constexpr Key contiguous_key{.name = "contiguous",
                                    .type = Type::word,
                                    .help =
                                        "for a view: the call gets t.contiguous(), a copy; its result is dropped, or "
                                        "copied back by t.copy_(c). default: the call gets the view",
                                    .choices = contiguous_words,
                                    .bind = to<&CollectiveOptions::contiguous>};

constexpr Key tensor_key{
    .name = "tensor",
    .type = Type::name,
    .help = "a name for its content, for reports: ranks that pass different contents to one call mix them",
    .bind = to<&CollectiveOptions::tensor>};

constexpr std::array<std::string_view, 2> input_words{"pattern", "ranks"};

constexpr Key input_key{.name = "input",
                               .type = Type::rows,
                               .help = "the numbers that each rank of the group passes. ranks: element i of rank r is "
                                       "10 r + i; or a list for each rank, [] for a rank that passes nothing. "
                                       "`expect.values` can then state the result on each rank",
                               .choices = input_words,
                               .bind = to<&CollectiveOptions::input>};

constexpr std::array all_reduce_keys{count_key,  dtype_key,  op_key,         group_key,  async_key, algorithm_key,
                                            device_key, stride_key, contiguous_key, tensor_key, input_key};

constexpr std::array reduce_like_keys{count_key, dtype_key, op_key, group_key, async_key, algorithm_key, input_key};

constexpr std::array from_one_keys{count_key, dtype_key,     src_key,    group_src_key, group_key,
                                          async_key, algorithm_key, device_key, input_key};

constexpr std::array to_one_keys{count_key, dtype_key,     dst_key,    group_dst_key, group_key,
                                        async_key, algorithm_key, device_key, input_key};

constexpr std::array reduce_keys{count_key, dtype_key, op_key,        dst_key,  group_dst_key,
                                        group_key, async_key, algorithm_key, input_key};

constexpr std::array gathering_keys{count_key, dtype_key, group_key, async_key, algorithm_key, input_key};

constexpr std::array barrier_keys{
    group_key,
    async_key,
    algorithm_key,
    Key{.name = "device_ids",
        .type = Type::integer,
        .help =
            "the GPU that it runs on; local_rank: this rank's place in its node. default: that of earlier calls, or "
            "for a first call the rank modulo `world.devices`",
        .choices = local_rank_words,
        .high = 63,
        .bind = to<&CollectiveOptions::device_ids>},
};

constexpr std::array uneven_keys{counts_key, dtype_key, group_key, async_key, algorithm_key};

constexpr Key input_splits_key{.name = "input_split_sizes",
                                      .type = Type::counts,
                                      .help = "elements for each rank of the group, instead of `count` for each",
                                      .formerly = "counts",
                                      .high = limits::count,
                                      .bind = to<&CollectiveOptions::input_split_sizes>};

constexpr Key output_splits_key{
    .name = "output_split_sizes",
    .type = Type::counts,
    .help = "elements from each rank of the group; default: those that follow if all ranks pass the same "
            "input_split_sizes",
    .high = limits::count,
    .bind = to<&CollectiveOptions::output_split_sizes>};

constexpr std::array all_to_all_single_keys{count_key, dtype_key, input_splits_key, output_splits_key,
                                                   group_key, async_key, algorithm_key};

constexpr std::array uneven_reduce_keys{counts_key, dtype_key, op_key, group_key, async_key, algorithm_key};

constexpr std::array<std::string_view, 1> any_source_words{"any"};

constexpr std::array isend_keys{
    Key{.name = "dst",
        .type = Type::integer,
        .help = "the rank of the world that it goes to; this or `group_dst` must be given",
        .formerly = "peer",
        .bind = to<&CollectiveOptions::dst>},
    group_dst_key,
    count_key,
    dtype_key,
    tag_key,
    group_key,
};

constexpr std::array irecv_keys{
    Key{.name = "src",
        .type = Type::integer,
        .help = "the rank of the world that it comes from; any: the first that sends; this or `group_src` must be given",
        .choices = any_source_words,
        .formerly = "peer",
        .bind = to<&CollectiveOptions::src>},
    group_src_key,
    count_key,
    dtype_key,
    tag_key,
    group_key,
};

constexpr OperationRow one_collective(std::string_view name, std::string_view help, std::span<const Key> keys,
                                      std::span<const CollectiveKind> kind) {
  return {.name = name,
          .help = help,
          .title_help = "a collective",
          .keys = keys,
          .options = options_of<CollectiveOptions>,
          .traits = language::collective | language::in_train,
          .collectives = kind,
          .run = collective};
}

constexpr std::array collective_rows{
    OperationRow{.name = "barrier",
                 .help = "waits until every rank has arrived",
                 .title_help = "a barrier",
                 .keys = barrier_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::barrier>,
                 .run = collective},
    one_collective("all_reduce",
                   "combines a tensor; every rank gets the result",
                   all_reduce_keys,
                   made_of<CollectiveKind::all_reduce>),
    one_collective("broadcast",
                   "sends the tensor of rank `src` to every rank",
                   from_one_keys,
                   made_of<CollectiveKind::broadcast>),
    one_collective("reduce",
                   "combines a tensor; rank `dst` gets the result",
                   reduce_keys,
                   made_of<CollectiveKind::reduce>),
    one_collective("all_gather",
                   "every rank gets every rank's tensor",
                   gathering_keys,
                   made_of<CollectiveKind::all_gather>),
    one_collective("all_gather_into_tensor",
                   "all_gather whose output is one tensor",
                   gathering_keys,
                   made_of<CollectiveKind::all_gather>),
    one_collective("gather", "rank `dst` gets every rank's tensor", to_one_keys, made_of<CollectiveKind::gather>),
    one_collective("scatter",
                   "sends a part of the tensor of rank `src` to each rank",
                   from_one_keys,
                   made_of<CollectiveKind::scatter>),
    one_collective("reduce_scatter",
                   "combines tensors; each rank gets a part",
                   reduce_like_keys,
                   made_of<CollectiveKind::reduce_scatter>),
    one_collective("reduce_scatter_tensor",
                   "reduce_scatter whose input is one tensor",
                   reduce_like_keys,
                   made_of<CollectiveKind::reduce_scatter>),
    one_collective("all_to_all",
                   "sends a part of every rank's tensor to every rank",
                   gathering_keys,
                   made_of<CollectiveKind::all_to_all>),
    OperationRow{.name = "all_to_all_single",
                 .help = "all_to_all of one tensor, whose parts may differ in size",
                 .title_help = "a collective",
                 .keys = all_to_all_single_keys,
                 .options = options_of<CollectiveOptions>,
                 .formerly = "all_to_all_v",
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::all_to_all>,
                 .with_splits = CollectiveKind::all_to_all_v,
                 .run = collective},
    one_collective("scan",
                   "each rank gets the combination of the ranks up to itself",
                   reduce_like_keys,
                   made_of<CollectiveKind::scan>),
    one_collective("exscan",
                   "each rank gets the combination of the ranks before itself",
                   reduce_like_keys,
                   made_of<CollectiveKind::exscan>),
};

constexpr std::array uneven_rows{
    one_collective("all_gather_v",
                   "every rank gets every rank's tensor; `counts` gives the sizes",
                   uneven_keys,
                   made_of<CollectiveKind::all_gather_v>),
    one_collective("reduce_scatter_v",
                   "combines tensors; rank r of the group gets counts[r] elements",
                   uneven_reduce_keys,
                   made_of<CollectiveKind::reduce_scatter_v>),
};

constexpr std::array message_rows{
    OperationRow{.name = "send",
                 .help = "a message to rank `dst`",
                 .title_help = "a message to one rank",
                 .keys = isend_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::in_train | language::point_to_point,
                 .collectives = made_of<CollectiveKind::send>,
                 .run = collective},
    OperationRow{.name = "recv",
                 .help = "a message from rank `src`",
                 .title_help = "a message from one rank",
                 .keys = irecv_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::in_train | language::point_to_point,
                 .collectives = made_of<CollectiveKind::recv>,
                 .run = collective},
    OperationRow{.name = "isend",
                 .help = "send that returns at once; `wait: {for: label}` waits for it",
                 .title_help = "a message to one rank",
                 .keys = isend_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::in_train | language::point_to_point | language::asynchronous,
                 .collectives = made_of<CollectiveKind::send>,
                 .run = collective},
    OperationRow{.name = "irecv",
                 .help = "recv that returns at once; `wait: {for: label}` waits for it",
                 .title_help = "a message from one rank",
                 .keys = irecv_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::in_train | language::point_to_point | language::asynchronous,
                 .collectives = made_of<CollectiveKind::recv>,
                 .run = collective},
};

}  // namespace

const Operations collective_operations{collective_rows};
const Operations uneven_operations{uneven_rows};
const Operations message_operations{message_rows};

}  // namespace pdsim::scenarios::operations
