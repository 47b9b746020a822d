#include "core/collectives/plans.h"

namespace pdsim {
namespace {

struct Ring {
  Rank next, previous;
  explicit Ring(const PlanArgs& a) : next((a.rank + 1) % a.size), previous((a.rank + a.size - 1) % a.size) {}
};

Slice part(const PlanArgs& a, int i, BufferId buffer, const std::vector<std::int64_t>* offsets) {
  const int wrapped = ((i % a.size) + a.size) % a.size;
  if (offsets == nullptr || offsets->empty()) return {wrapped * a.count, a.count, buffer};
  const std::int64_t first = (*offsets)[static_cast<std::size_t>(wrapped)];
  return {first, (*offsets)[static_cast<std::size_t>(wrapped) + 1] - first, buffer};
}

}  // namespace

Slice PlanArgs::input_part(int i) const {
  return part(*this, i, BufferId::input, splits == nullptr ? nullptr : &splits->input);
}

Slice PlanArgs::output_part(int i) const {
  return part(*this, i, BufferId::output, splits == nullptr ? nullptr : &splits->output);
}

Slice PlanArgs::chunk(int i) const {
  int wrapped = i < 0 ? i + size : i;  // most are in range then
  if (wrapped < 0 || wrapped >= size) wrapped = ((i % size) + size) % size;
  const std::int64_t index = wrapped;
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

Plan segmented_ring_all_reduce(PlanArgs a) {
  const Ring ring(a);
  const auto segment = [&a](int chunk, int s) {
    const Slice whole = a.chunk(chunk);
    PlanArgs split = a;
    split.size = ring_segments;
    split.count = whole.count;
    const Slice part = split.chunk(s);
    return Slice{whole.offset + part.offset, part.count, BufferId::output};
  };
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
