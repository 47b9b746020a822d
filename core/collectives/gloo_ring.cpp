#include "core/collectives/plans.h"

#include <algorithm>
#include <vector>

namespace pdsim {
namespace {

// Chunks travel down the ring: chunk c starts at rank c - 1 and is complete on rank c.
struct DownRing {
  const PlanArgs& a;
  BufferId buffer = BufferId::output;

  Rank to() const { return (a.rank + a.size - 1) % a.size; }
  Rank from() const { return (a.rank + 1) % a.size; }
  Slice chunk(int i) const {
    Slice s = gloo_chunk(a, i);
    s.buffer = buffer;
    return s;
  }
};

}  // namespace

// Two segments a chunk at least, each rounded up to whole elements: the last ranks' chunks may be short or empty.
Slice gloo_chunk(const PlanArgs& a, int i) {
  const std::int64_t longest = 2 * ((a.count + 2 * a.size - 1) / (2 * a.size));
  const std::int64_t first = std::min(a.count, (i % a.size) * longest);
  return {first, std::min(longest, a.count - first), BufferId::output};
}

Plan gloo_ring_all_reduce(PlanArgs a) {
  const DownRing ring{a};
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send(ring.to(), ring.chunk(a.rank + k)), receive_reduce(ring.from(), ring.chunk(a.rank + k + 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.to(), ring.chunk(a.rank + k)), receive(ring.from(), ring.chunk(a.rank + k + 1)));
}

Plan ring_gather_reduce(PlanArgs a) {
  const DownRing ring{a, a.rank == a.root ? BufferId::output : BufferId::scratch};
  co_yield round(copy({0, a.count, ring.buffer}, {0, a.count, BufferId::input}));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send(ring.to(), ring.chunk(a.rank + k)), receive_reduce(ring.from(), ring.chunk(a.rank + k + 1)));
  if (a.rank != a.root) {
    co_yield round(send(a.root, ring.chunk(a.rank)));
    co_return;
  }
  std::vector<Step> steps;
  for (Rank r = 0; r < a.size; ++r)
    if (r != a.root) steps.push_back(receive(r, ring.chunk(r)));
  co_yield std::span<const Step>(steps);
}

}  // namespace pdsim
