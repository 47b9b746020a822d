// The libraries' rules, one table each; tuning.h explains how they are read.
#pragma once

#include "core/collectives/tuning/tuning.h"

namespace pdsim {

constexpr int any_ranks = SelectionRule::any_ranks;
constexpr std::int64_t any_size = SelectionRule::any_size;

std::span<const SelectionRule> mpich_rules();
std::span<const SelectionRule> openmpi_rules();
std::span<const SelectionRule> nccl_rules();
std::span<const SelectionRule> gloo_rules();

}  // namespace pdsim
