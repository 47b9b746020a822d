// Aligns two sequences of calls: finds which calls correspond, at the least cost.
//
//   pairing  `cost(a, b)` of two that may be one call, 0 where they are; `never` where they cannot be
//   alone    each call that the other sequence does not have costs `alone`
//   cost     O(1) for each call of a common beginning or end; the rest in windows, O(n x window) at most
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace pdsim::scenarios {

struct Aligned {  // indices; `none` on one side: the other sequence does not have it
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t a = none, b = none;
  bool is_pair() const { return a != none && b != none; }
  bool operator==(const Aligned&) const = default;
};

struct CallAlignment {
  static constexpr int never = -1, alone = 10;
  using Cost = std::function<int(std::size_t a, std::size_t b)>;
};

// In the order of both. Of two alignments with equal cost, the one that pairs earlier.
std::vector<Aligned> align_calls(std::size_t size_a, std::size_t size_b, const CallAlignment::Cost& cost);

}  // namespace pdsim::scenarios
