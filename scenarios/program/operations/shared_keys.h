// Keys and words of options that operations of several files here take.
#pragma once

#include "core/base/types.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/program/operations/operation_row.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::operations {

inline constexpr std::array<std::string_view, 1> local_rank_words{"local_rank"};

inline constexpr std::array<std::string_view, dtypes.size()> dtype_names = [] {
  std::array<std::string_view, dtypes.size()> names{};
  for (std::size_t i = 0; i < dtypes.size(); ++i) names[i] = dtypes[i].name;
  return names;
}();

inline constexpr std::array<std::string_view, 2> eval_targets{"ddp", "module"};

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

inline constexpr Key model_part_key{
    .name = "part", .type = Type::name, .help = "which of the model's `parts`; required if there are any"};

}  // namespace pdsim::scenarios::operations
