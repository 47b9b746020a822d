#include "core/collectives/plans.h"

namespace pdsim {
namespace {

struct Ring {
  Rank next, previous;
  explicit Ring(const PlanArgs& a) : next((a.rank + 1) % a.size), previous((a.rank + a.size - 1) % a.size) {}
};

}  // namespace

Plan ring_all_reduce(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank - k)), receive_reduce(ring.previous, a.chunk(a.rank - k - 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank + 1 - k)), receive(ring.previous, a.chunk(a.rank - k)));
}

Plan segmented_ring_all_reduce(PlanArgs a) {
  const Ring ring(a);
  const auto segment = [&a](int chunk, int s) { return a.chunk(chunk).chunk(ring_segments, s); };
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    for (int s = 0; s < ring_segments; ++s)
      co_yield round(send(ring.next, segment(a.rank - k, s)),
                     receive_reduce(ring.previous, segment(a.rank - k - 1, s)));
  for (int k = 0; k < a.size - 1; ++k)
    for (int s = 0; s < ring_segments; ++s)
      co_yield round(send(ring.next, segment(a.rank + 1 - k, s)), receive(ring.previous, segment(a.rank - k, s)));
}

Plan ring_all_gather(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(a.output_part(a.rank), {0, a.output_part(a.rank).count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.output_part(a.rank - k)), receive(ring.previous, a.output_part(a.rank - k - 1)));
}

// Works on a copy of the input, for the input belongs to the caller.
Plan ring_reduce_scatter(PlanArgs a) {
  const Ring ring(a);
  const auto block = [&a](int i) {
    Slice s = a.input_part(i);
    s.buffer = BufferId::scratch;
    return s;
  };
  const Slice last = a.input_part(a.size - 1);
  const std::int64_t all = last.offset + last.count;
  co_yield round(copy({0, all, BufferId::scratch}, {0, all, BufferId::input}));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send(ring.next, block(a.rank - k)), receive_reduce(ring.previous, block(a.rank - k - 1)));
  co_yield round(copy({0, block(a.rank).count, BufferId::output}, block(a.rank)));
}

}  // namespace pdsim
