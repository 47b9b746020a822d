#include "core/collectives/plans.h"

namespace pdsim {
namespace {

struct Ring {
  Rank next, previous;
  explicit Ring(const PlanArgs& a) : next((a.rank + 1) % a.size), previous((a.rank + a.size - 1) % a.size) {}
};

Slice block(const PlanArgs& a, int i, BufferId buffer) {
  const int wrapped = ((i % a.size) + a.size) % a.size;
  return {wrapped * a.count, a.count, buffer};
}

}  // namespace

Slice PlanArgs::chunk(int i) const {
  const std::int64_t index = ((i % size) + size) % size;
  const std::int64_t base = count / size;
  const std::int64_t longer = count % size;
  const std::int64_t offset = index * base + (index < longer ? index : longer);
  return {offset, base + (index < longer ? 1 : 0), BufferId::output};
}

Plan ring_all_reduce(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank - k)), receive_reduce(ring.previous, a.chunk(a.rank - k - 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank + 1 - k)), receive(ring.previous, a.chunk(a.rank - k)));
}

Plan ring_all_gather(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(block(a, a.rank, BufferId::output), {0, a.count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, block(a, a.rank - k, BufferId::output)),
                   receive(ring.previous, block(a, a.rank - k - 1, BufferId::output)));
}

// Works on a copy of the input, for the input belongs to the caller.
Plan ring_reduce_scatter(PlanArgs a) {
  const Ring ring(a);
  const Slice everything{0, a.count * a.size, BufferId::scratch};
  co_yield round(copy(everything, {0, a.count * a.size, BufferId::input}));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send(ring.next, block(a, a.rank - k, BufferId::scratch)),
                   receive_reduce(ring.previous, block(a, a.rank - k - 1, BufferId::scratch)));
  co_yield round(copy(a.whole(), block(a, a.rank, BufferId::scratch)));
}

}  // namespace pdsim
