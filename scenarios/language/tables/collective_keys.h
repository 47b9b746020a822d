// The options of collectives, object collectives and messages. For the table in operations_table.h alone.
#pragma once

#include "core/base/types.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/bind.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 1> any_source_words{"any"};
inline constexpr std::array<std::string_view, 2> device_words{"cpu", "cuda"};
inline constexpr std::array<std::string_view, 1> local_rank_words{"local_rank"};
inline constexpr std::array<std::string_view, dtypes.size()> dtype_names = [] {
  std::array<std::string_view, dtypes.size()> names{};
  for (std::size_t i = 0; i < dtypes.size(); ++i) names[i] = dtypes[i].name;
  return names;
}();

// The same key for another struct.
constexpr Key bound(Key key, Binding member) {
  key.bind = member;
  return key;
}

inline constexpr Key count_key{.name = "count",
                               .type = Type::integer,
                               .help = "elements of the tensor that the user passes",
                               .high = limits::count,
                               .bind = to<&CollectiveOptions::count>};
inline constexpr Key dtype_key{.name = "dtype",
                               .type = Type::word,
                               .help = "element type",
                               .choices = dtype_names,
                               .bind = to<&CollectiveOptions::dtype>};
inline constexpr Key op_key{.name = "op",
                            .type = Type::word,
                            .help = "how elements are combined",
                            .choices = reduce_op_names,
                            .bind = to<&CollectiveOptions::op>};
inline constexpr Key src_key{.name = "src",
                             .type = Type::integer,
                             .help = "the rank of the world whose tensor it is; default: the group's first",
                             .formerly = "root",
                             .bind = to<&CollectiveOptions::src>};
inline constexpr Key dst_key{.name = "dst",
                             .type = Type::integer,
                             .help = "the rank of the world that gets the result; default: the group's first",
                             .formerly = "root",
                             .bind = to<&CollectiveOptions::dst>};
inline constexpr Key group_src_key{.name = "group_src",
                                   .type = Type::integer,
                                   .help = "instead of `src`: the rank of the group",
                                   .bind = to<&CollectiveOptions::group_src>};
inline constexpr Key group_dst_key{.name = "group_dst",
                                   .type = Type::integer,
                                   .help = "instead of `dst`: the rank of the group",
                                   .bind = to<&CollectiveOptions::group_dst>};
inline constexpr Key group_key{.name = "group",
                               .type = Type::name,
                               .help = "the process group: world, or the name of a new_group",
                               .bind = to<&CollectiveOptions::group>};
inline constexpr Key counts_key{.name = "counts",
                                .type = Type::counts,
                                .help = "elements of each rank's part, by rank of the group",
                                .required = true,
                                .high = limits::count,
                                .bind = to<&CollectiveOptions::counts>};
inline constexpr Key tag_key{.name = "tag",
                             .type = Type::integer,
                             .help = "messages meet receives of the same tag",
                             .high = 1 << 30,
                             .bind = to<&CollectiveOptions::tag>};
inline constexpr Key async_key{.name = "async",
                               .type = Type::boolean,
                               .help = "return at once; `wait: {for: label}` waits for it",
                               .bind = to<&CollectiveOptions::async>};
inline constexpr Key algorithm_key{.name = "algorithm",
                                   .type = Type::text,
                                   .help =
                                       "auto, auto:mpich (openmpi, nccl, gloo), native, a row of "
                                       "`pdsim list --what algorithms`, or FILE.plan beside the scenario",
                                   .bind = to<&CollectiveOptions::algorithm>};

inline constexpr Key device_key{.name = "device",
                                .type = Type::word,
                                .help = "where the tensor is; default: where the backend wants it",
                                .choices = device_words,
                                .bind = to<&CollectiveOptions::device>};
inline constexpr Key stride_key{.name = "stride",
                                .type = Type::integer,
                                .help = "of the tensor, a view as t[::2]; 1 is contiguous",
                                .low = 1,
                                .high = 64,
                                .bind = to<&CollectiveOptions::stride>};

inline constexpr std::array<std::string_view, 2> contiguous_words{"dropped", "copied_back"};
inline constexpr Key contiguous_key{.name = "contiguous",
                                    .type = Type::word,
                                    .help =
                                        "of a view: the call gets t.contiguous(), a copy; its result is dropped, or "
                                        "t.copy_(c) follows. default: it gets the view",
                                    .choices = contiguous_words,
                                    .bind = to<&CollectiveOptions::contiguous>};

inline constexpr Key tensor_key{
    .name = "tensor",
    .type = Type::name,
    .help = "a name for its content, for reports: ranks that pass different ones to one call mix them",
    .bind = to<&CollectiveOptions::tensor>};

inline constexpr std::array<std::string_view, 2> input_words{"pattern", "ranks"};
inline constexpr Key input_key{.name = "input",
                               .type = Type::rows,
                               .help = "the numbers that each rank of the group passes. ranks: element i of rank r is 10 r + i; or a list for each "
                                       "rank, [] for one that passes nothing. `expect.values` can then say what each rank holds after it",
                               .choices = input_words,
                               .bind = to<&CollectiveOptions::input>};

inline constexpr std::array all_reduce_keys{count_key,  dtype_key,  op_key,         group_key,  async_key, algorithm_key,
                                            device_key, stride_key, contiguous_key, tensor_key, input_key};
inline constexpr std::array reduce_like_keys{count_key, dtype_key, op_key, group_key, async_key, algorithm_key, input_key};
inline constexpr std::array from_one_keys{count_key, dtype_key,     src_key,    group_src_key, group_key,
                                          async_key, algorithm_key, device_key, input_key};
inline constexpr std::array to_one_keys{count_key, dtype_key,     dst_key,    group_dst_key, group_key,
                                        async_key, algorithm_key, device_key, input_key};
inline constexpr std::array reduce_keys{count_key, dtype_key, op_key,        dst_key,  group_dst_key,
                                        group_key, async_key, algorithm_key, input_key};
inline constexpr std::array gathering_keys{count_key, dtype_key, group_key, async_key, algorithm_key, input_key};
inline constexpr std::array barrier_keys{
    group_key,
    async_key,
    algorithm_key,
    Key{.name = "device_ids",
        .type = Type::integer,
        .help =
            "the GPU that it runs on; local_rank: this rank's place in its node. default: that of earlier calls, and "
            "of a first one the rank modulo `world.devices`",
        .choices = local_rank_words,
        .high = 63,
        .bind = to<&CollectiveOptions::device_ids>},
};
inline constexpr std::array uneven_keys{counts_key, dtype_key, group_key, async_key, algorithm_key};
inline constexpr Key input_splits_key{.name = "input_split_sizes",
                                      .type = Type::counts,
                                      .help = "elements for each rank of the group, instead of `count` for each",
                                      .formerly = "counts",
                                      .high = limits::count,
                                      .bind = to<&CollectiveOptions::input_split_sizes>};
inline constexpr Key output_splits_key{
    .name = "output_split_sizes",
    .type = Type::counts,
    .help = "elements from each rank of the group; default: what this rank gets where all pass one input_split_sizes",
    .high = limits::count,
    .bind = to<&CollectiveOptions::output_split_sizes>};
inline constexpr std::array all_to_all_single_keys{count_key, dtype_key, input_splits_key, output_splits_key,
                                                   group_key, async_key, algorithm_key};
inline constexpr Key object_size_key{
    .name = "size", .type = Type::size, .help = "of this rank's object, pickled", .bind = to<&CollectiveOptions::size>};
inline constexpr std::array object_keys{object_size_key, group_key};
inline constexpr std::array object_from_one_keys{object_size_key, src_key, group_src_key, group_key};
inline constexpr std::array object_to_one_keys{object_size_key, dst_key, group_dst_key, group_key};
inline constexpr std::array uneven_reduce_keys{counts_key, dtype_key, op_key, group_key, async_key, algorithm_key};
inline constexpr std::array isend_keys{
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
inline constexpr std::array irecv_keys{
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
inline constexpr std::array batch_keys{
    Key{.name = "messages",
        .type = Type::operations,
        .help = "sends and recvs, all of which are started before one is waited for",
        .required = true},
    bound(group_key, to<&BatchOptions::group>),
};

}  // namespace pdsim::scenarios::language
