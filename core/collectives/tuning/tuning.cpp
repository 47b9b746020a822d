#include "core/collectives/tuning/tuning.h"

#include "core/collectives/tuning/nccl_model.h"
#include "core/collectives/tuning/selection_tables.h"

#include <algorithm>
#include <array>
#include <bit>

namespace pdsim {
namespace {

using When = SelectionRule::When;

bool holds(When when, const TuningCase& at) {
  const auto ranks = static_cast<unsigned>(at.ranks);
  switch (when) {
    case When::power_of_two:
      return std::has_single_bit(ranks);
    case When::no_power_of_two:
      return !std::has_single_bit(ranks);
    case When::fewer_than_power:
      return at.count < static_cast<std::int64_t>(std::bit_floor(ranks));
    case When::uniform_nodes:
      return at.ranks_per_node > 1 && at.ranks > at.ranks_per_node && at.ranks % at.ranks_per_node == 0;
    default:
      return true;
  }
}

bool applies(const SelectionRule& rule, const TuningCase& at) {
  const std::int64_t bytes = at.count * at.element_bytes * (rule.of_all_parts ? at.ranks : 1);
  return rule.kind == at.kind && at.ranks < rule.ranks_below && bytes < rule.bytes_below && holds(rule.when, at);
}

std::string_view by_nccl_model(const TuningCase& at) {
  if (at.ranks < 2) return "ring";
  nccl_model::Machine machine;
  machine.ranks_per_node = std::clamp(at.ranks_per_node, 1, at.ranks);
  machine.nodes = (at.ranks + machine.ranks_per_node - 1) / machine.ranks_per_node;
  const auto choice = nccl_model::choose(machine, at.count * at.element_bytes);
  return choice.shape == nccl_model::Shape::tree ? "double_tree" : "ring";
}

constexpr std::array all_tunings{
    Tuning{"mpich", "auto:mpich", "MPICH: by size and powers of two; two levels if all nodes have the same size", mpich_rules},
    Tuning{"openmpi", "auto:openmpi", "Open MPI's tuned component since 4.1: measured once, by ranks and size",
           openmpi_rules},
    Tuning{"nccl", "auto:nccl", "NCCL: ring or two trees, whichever its model of latency and bandwidth says is faster",
           nccl_rules},
    Tuning{"gloo", "auto:gloo", "Gloo: one algorithm for each collective", gloo_rules},
};

}  // namespace

std::span<const Tuning> tunings() { return all_tunings; }

const Tuning* tuning_named(std::string_view algorithm) {
  for (const Tuning& tuning : all_tunings)
    if (tuning.algorithm == algorithm) return &tuning;
  return nullptr;
}

std::string_view chosen_by(const Tuning& tuning, const TuningCase& at) {
  for (const SelectionRule& rule : tuning.rules())
    if (applies(rule, at)) return rule.when == When::by_model ? by_nccl_model(at) : rule.algorithm;
  return "auto";
}

}  // namespace pdsim
