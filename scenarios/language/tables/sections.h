// The tables of every section of a scenario file except `program`, which is in operations_table.h.
#pragma once

#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/key.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

extern const Group document_group;   // the top level
extern const Group selector;         // of `when`

// Words of `expect.stated_for`; the third is both.
inline constexpr std::string_view stated_for_seed = "seed", stated_for_order = "order";

const Group& operation_entry();  // an entry of `program`

std::span<const Key> fault_kinds();
std::span<const Key> layer_kinds();  // in the order of nn::LayerKind
std::span<const Key> hook_kinds();   // in the order of comm_hook_table
std::span<const Key> optimizer_kinds();
std::span<const Key> ddp_options();       // of `ddp`
std::span<const Key> fully_shard_options();
std::span<const Key> powersgd_options();  // of its hook of that name
std::span<const Key> loss_kinds();
std::span<const std::string_view> backends();
std::span<const std::string_view> profiles();

}  // namespace pdsim::scenarios::language
