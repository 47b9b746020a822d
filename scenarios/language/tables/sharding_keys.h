// Keys of `mesh`, `fully_shard` and `tensor_parallel`.
#pragma once

#include "core/sharded/options.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/bind.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::int64_t most_dimensions = 4;

inline constexpr Key mesh_size_key{
    .name = "size", .type = Type::integer, .help = "number of places along it", .low = 1, .high = limits::ranks_without_payload};
inline constexpr Key sharding_group_key{.name = "group",
                                        .type = Type::name,
                                        .help = "the ranks that hold the parts: world, or a dimension of the mesh",
                                        .default_value = "world"};

// In the order of BackwardPrefetch.
inline constexpr std::array<std::string_view, 3> prefetch_words{"none", "pre", "post"};
inline constexpr Key unit_key{.name = "unit", .type = Type::names, .help = "its layers"};
inline constexpr Key fully_shard_keys[] = {
    {.name = "units",
     .type = Type::named,
     .help = "layers whose parameters are gathered and released together; layers in no unit belong to the root",
     .element = &unit_key},
    {.name = "stage",
     .type = Type::integer,
     .help = "ZeRO's stage, the state that is sharded: 1 the optimizer's state, 2 also gradients, 3 also parameters",
     .low = 1,
     .high = 3,
     .bind = to<&ShardedOptions::stage>},
    {.name = "reshard_after_forward",
     .type = Type::boolean,
     .help = "stage 3: a unit's parameters are released after its forward, and gathered again for its backward; never "
             "the root's",
     .bind = to<&ShardedOptions::reshard_after_forward>},
    {.name = "backward_prefetch",
     .type = Type::word,
     .help = "when backward gathers the next unit: when it is needed, before the current unit's backward "
             "(BACKWARD_PRE), or after it (BACKWARD_POST)",
     .choices = prefetch_words,
     .bind = to<&ShardedOptions::backward_prefetch>},
    {.name = "forward_prefetch",
     .type = Type::boolean,
     .help = "forward gathers the unit that came next in the previous forward",
     .bind = to<&ShardedOptions::forward_prefetch>},
    {.name = "sync_module_states",
     .type = Type::boolean,
     .help = "rank 0's parameters and buffers are broadcast first",
     .bind = to<&ShardedOptions::sync_module_states>},
    sharding_group_key,
};
inline constexpr Group fully_shard{
    .title = "fully_shard", .help = "a sharded model instead of DDP (FSDP, ZeRO)", .keys = fully_shard_keys};

inline constexpr Key tensor_parallel_keys[] = {
    sharding_group_key,
    {.name = "colwise", .type = Type::names, .help = "linear layers split by output features (ColwiseParallel)"},
    {.name = "rowwise", .type = Type::names, .help = "linear layers split by input features (RowwiseParallel)"},
};
inline constexpr Group tensor_parallel{.title = "tensor_parallel",
                                       .help = "linear layers that are split across the ranks of a group",
                                       .keys = tensor_parallel_keys};

}  // namespace pdsim::scenarios::language
