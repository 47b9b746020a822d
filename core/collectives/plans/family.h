// An algorithm family. Its file, core/collectives/plans/<family>.cpp, holds the plans of its algorithms, their closed forms, and
// the rows, which it exports as families::<family>(). The build lists the families by their files, so adding one means adding a
// file, and adding an algorithm means adding a row.
//
//   plan      cost in the comments: alpha per message, beta per byte, gamma per byte combined; n is the vector's bytes, p the
//             number of ranks, k = ceil(log2 p), f = floor(log2 p), q = 2^f
//   names     file-local names must differ from those of the other families: sources may be compiled together
#pragma once

#include "core/base/enum_set.h"
#include "core/collectives/algorithms.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace pdsim {

// One algorithm, for all collectives that it serves with the same plan.
struct AlgorithmRow {
  EnumSet<CollectiveKind> kinds;
  std::string_view name;
  PlanFunction plan;
  std::int64_t (*scratch)(const PlanArgs&) = nullptr;  // these as in Algorithm
  PlanCost (*closed_form)(const PlanArgs&) = nullptr;
  std::string_view formula{};
  bool automatic = false;  // `auto` takes it; one row of each collective
  bool leaves_scratch = false;  // as in Algorithm
};
using AlgorithmRows = std::span<const AlgorithmRow>;
using AlgorithmFamily = AlgorithmRows (*)();

// Ordered by the names of their files.
std::span<const AlgorithmFamily> algorithm_families();

// Common scratch sizes of rows.
inline std::int64_t one_vector(const PlanArgs& a) { return a.count; }
inline std::int64_t part_of_each_rank(const PlanArgs& a) { return a.size * a.count; }
inline std::int64_t whole_input(const PlanArgs& a) {
  const Slice last = a.input_part(a.size - 1);
  return last.offset + last.count;
}

}  // namespace pdsim
