// The choices behind `auto:mpich`, `auto:openmpi`, `auto:nccl` and `auto:gloo`: how those libraries choose an
// algorithm, as tables of rules. The first rule that applies is taken.
//
//   same     every rank of a group gets the same answer: it depends only on facts that all of them know
//   missing  where pdsim lacks a library's algorithm, the rule names the nearest one that pdsim has
//   source   MPICH: its selectors, and SimGrid's reading of them; Open MPI: coll/tuned, the fixed decisions since 4.1;
//            NCCL: its tuner's model (nccl_model.h); Gloo: the algorithm of each of its collectives
#pragma once

#include "core/collectives/algorithms.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace pdsim {

struct SelectionRule {
  static constexpr int any_ranks = std::numeric_limits<int>::max();
  static constexpr std::int64_t any_size = std::numeric_limits<std::int64_t>::max();
  enum class When : std::uint8_t {
    always,
    power_of_two,      // ranks
    no_power_of_two,   // ranks
    fewer_than_power,  // fewer elements than the largest power of two up to the number of ranks
    uniform_nodes,     // more than one, each with the same number of ranks, and more than one
    by_model,          // NCCL's: ring or double_tree, whichever its model says is faster
  };

  CollectiveKind kind;
  int ranks_below = any_ranks;
  std::int64_t bytes_below = any_size;  // of a vector, or of one rank's part
  std::string_view algorithm;
  When when = When::always;
  bool of_all_parts = false;  // bytes_below counts the parts of all ranks together
};

struct Tuning {
  std::string_view name;
  std::string_view algorithm;  // the name that calls use: "auto:" and the library
  std::string_view explanation;
  std::span<const SelectionRule> (*rules)();
};

std::span<const Tuning> tunings();

struct TuningCase {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  std::int64_t count = 0;  // elements, as Collective::count
  std::int64_t element_bytes = 1;
  int ranks_per_node = 1;
};

// Returns the algorithm's name; the first one of the table where the library has no such collective.
std::string_view chosen_by(const Tuning& tuning, const TuningCase& at);

// Returns null where no tuning has that name.
const Tuning* tuning_named(std::string_view algorithm);

}  // namespace pdsim
