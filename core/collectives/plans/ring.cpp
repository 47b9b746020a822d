// From each rank to the next one, around the ring.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

constexpr int ring_segments = 2;

struct Ring {
  Rank next, previous;
  explicit Ring(const PlanArgs& a) : next((a.rank + 1) % a.size), previous((a.rank + a.size - 1) % a.size) {}
};

// Reduce-scatter then all-gather around the ring.   2(p-1) rounds, 2n(p-1)/p bytes sent per rank
//   order   chunk c is summed in ring order starting at rank c
//   source  Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009
Plan ring_all_reduce(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank - k)), receive_reduce(ring.previous, a.chunk(a.rank - k - 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.chunk(a.rank + 1 - k)), receive(ring.previous, a.chunk(a.rank - k)));
}

// The ring with each chunk in two segments, so that a large chunk needs little room.   4(p-1) rounds, bytes as the ring
//   source  Gloo's ring (at least 2p segments) and Open MPI's segmented ring
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

// (p-1) rounds of one rank's part
Plan ring_all_gather(PlanArgs a) {
  const Ring ring(a);
  co_yield round(copy(a.output_part(a.rank), {0, a.output_part(a.rank).count, BufferId::input}));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.next, a.output_part(a.rank - k)), receive(ring.previous, a.output_part(a.rank - k - 1)));
}

// Pairs of parts from the two neighbours in turn; the ring where p is odd.   p/2 rounds
//   source  Chen, Zhang, Zhang, Yuan, "Performance evaluation of allgather algorithms on terascale linux cluster", 2005
Plan neighbour_exchange_all_gather(PlanArgs a) {
  if (a.size % 2 == 1) return ring_all_gather(a);
  return [](PlanArgs b) -> Plan {
    const int p = b.size;
    const bool even = b.rank % 2 == 0;
    const Rank next = (b.rank + 1) % p, previous = (b.rank + p - 1) % p;
    const auto pair = [&b](int first) {
      const Slice left = b.output_part(first), right = b.output_part(first + 1);
      return Slice{left.offset, left.count + right.count, left.buffer};
    };
    const Slice own = b.output_part(b.rank);
    co_yield round(copy(own, {0, own.count, BufferId::input}));
    const Rank partner = even ? next : previous;
    co_yield round(send(partner, own), receive(partner, b.output_part(partner)));
    // Pairs come in turn from the other neighbour and from the partner, each time from two ranks farther on.
    const int home = even ? b.rank : previous;
    int have = home;
    for (int i = 1; i < p / 2; ++i) {
      const bool outward = i % 2 == 1;
      const Rank peer = outward == even ? previous : next;
      const int steps = 2 * ((i + 1) / 2);
      const int come = ((home + (outward == even ? -steps : steps)) % p + p) % p;
      co_yield round(send(peer, pair(have)), receive(peer, pair(come)));
      have = come;
    }
  }(a);
}

// (p-1) rounds of one rank's part; block b is summed starting at rank b+1
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

// a token goes round twice
Plan double_ring_barrier(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
  if (a.size == 1) co_return;
  for (int turn = 0; turn < 2; ++turn) {
    if (a.rank == 0) co_yield round(send(next, nothing));
    co_yield round(receive(previous, nothing));
    if (a.rank != 0) co_yield round(send(next, nothing));
  }
}

PlanCost cost_of_ring(const PlanArgs& a) {
  return {2 * (a.size - 1), std::int64_t{2} * a.size * (a.size - 1), counting::busiest_of_ring(a.size, a.count)};
}

PlanCost cost_of_segmented_ring(const PlanArgs& a) {
  PlanCost cost = cost_of_ring(a);
  cost.rounds *= ring_segments;
  cost.messages *= ring_segments;
  return cost;
}

PlanCost cost_of_neighbour_blocks(const PlanArgs& a) {
  if (a.size % 2 == 1) return counting::parts_in_turn(a);
  return {a.size / 2, std::int64_t{a.size} * (a.size / 2), (a.size - 1) * a.count};
}

PlanCost cost_of_double_ring(const PlanArgs& a) { return {a.size > 1 ? 4 : 0, a.size > 1 ? 2 * a.size : 0, 0}; }

}  // namespace

namespace families {

AlgorithmRows ring() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "ring",
                   .plan = ring_all_reduce,
                   .closed_form = cost_of_ring,
                   .formula = "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "segmented_ring",
                   .plan = segmented_ring_all_reduce,
                   .closed_form = cost_of_segmented_ring,
                   .formula = "2(p-1)S alpha + 2n(p-1)/p beta + n(p-1)/p gamma, S = 2 segments of a chunk"},
      AlgorithmRow{.kinds = {K::all_gather, K::all_gather_v},
                   .name = "ring",
                   .plan = ring_all_gather,
                   .closed_form = counting::parts_in_turn,
                   .formula = "(p-1)(alpha + n beta), n of the largest part",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::all_gather, K::all_gather_v},
                   .name = "neighbour_exchange",
                   .plan = neighbour_exchange_all_gather,
                   .closed_form = cost_of_neighbour_blocks,
                   .formula = "p/2 alpha + (p-1) n beta, n of the largest part; as the ring where p is odd"},
      AlgorithmRow{.kinds = {K::reduce_scatter, K::reduce_scatter_v},
                   .name = "ring",
                   .plan = ring_reduce_scatter,
                   .scratch = whole_input,
                   .closed_form = counting::parts_in_turn,
                   .formula = "(p-1)(alpha + n beta + n gamma), n of the largest part",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::barrier},
                   .name = "double_ring",
                   .plan = double_ring_barrier,
                   .closed_form = cost_of_double_ring,
                   .formula = "2p alpha"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
