#include "sim/world/memory_need.h"

#include "sim/kernel/stacks.h"

namespace pdsim::sim {
namespace {
constexpr std::int64_t of_a_rank = 11 * std::int64_t{1024};  // measured: docs/benchmarks.md
}

// Programs with models and reports need the larger; what runs on that many ranks does not, and its address space is counted.
std::size_t stack_bytes(int ranks) { return (ranks <= 16384 ? 256 : 64) * std::size_t{1024}; }

MemoryNeed memory_need(int ranks) {
  const Bytes touched{ranks * of_a_rank};
  return {{Stacks::address_space(stack_bytes(ranks), ranks) + touched.count}, touched};
}

}  // namespace pdsim::sim
