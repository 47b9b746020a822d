// Worlds and calls for comparing the engines: what the exchange does alone, message by message, is what the others must give.
#pragma once

#include "core/collectives/algorithms.h"
#include "tests/unit/sim/group_world.h"

namespace pdsim::sim {

inline RunOptions by(Engine engine) {
  RunOptions options;
  options.engine = engine;
  return options;
}

inline bool is_even_collective(const Algorithm& algorithm) {
  return !row(algorithm.kind).point_to_point && !row(algorithm.kind).name.ends_with("_v");
}

// Without data; the last rank is the root.
inline Collective call_of(const Algorithm& algorithm, std::int64_t count, Rank rank, int size) {
  Collective call;
  call.kind = algorithm.kind;
  call.count = count;
  call.root = size - 1;
  const CollectiveRow& kind = row(algorithm.kind);
  const bool is_root = rank == call.root;
  const bool barrier = algorithm.kind == CollectiveKind::barrier;
  const std::int64_t in = kind.input_in_parts && (!kind.rooted || is_root) ? count * size : count;
  const std::int64_t out = kind.output_in_parts && (!kind.rooted || is_root) ? count * size : count;
  call.input = {nullptr, DType::f32, barrier ? 0 : in};
  call.output = {nullptr, DType::f32, barrier ? 0 : out};
  return call;
}

}  // namespace pdsim::sim
