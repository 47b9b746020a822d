// Arithmetic for closed forms: elements of chunks, and the elements sent by rings and by doublings of chunks.
#pragma once

#include "core/collectives/algorithms.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pdsim::counting {

inline int ceil_log2(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))); }
inline int floor_log2(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p))) - 1; }
inline std::int64_t lowest_bit(int me) { return me & -me; }

// Elements in the chunks first .. first + many - 1 of p.
inline std::int64_t chunks(int p, int first, int many, std::int64_t n) {
  const std::int64_t base = n / p, longer = n % p;
  return many * base + std::clamp<std::int64_t>(longer - first, 0, many);
}

// Each rank sends every chunk but one in each half; the busiest rank skips the two shortest that its position allows.
inline std::int64_t around_ring(int p, int me, std::int64_t n) {
  return 2 * n - chunks(p, (me + 1) % p, 1, n) - chunks(p, (me + 2) % p, 1, n);
}

inline std::int64_t busiest_of_ring(int p, std::int64_t n) {
  std::int64_t most = 0;
  for (int me = 0; me < p; ++me) most = std::max(most, around_ring(p, me, n));
  return p == 1 ? 0 : most;
}

// Chunks sent by doubling over q chunks: each round sends all that the rank holds so far.
inline std::int64_t doubled(int q, int me, std::int64_t n) {
  std::int64_t sent = 0;
  for (int mask = 1; mask < q; mask *= 2) sent += chunks(q, me & ~(mask - 1), mask, n);
  return sent;
}

// p-1 rounds of one part each.
inline PlanCost parts_in_turn(const PlanArgs& a) {
  return {a.size - 1, std::int64_t{a.size} * (a.size - 1), (a.size - 1) * a.count};
}

}  // namespace pdsim::counting
