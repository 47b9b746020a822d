// Gloo's own algorithms, chunk by chunk and in its order, so that the last bits are the same.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

// Two segments a chunk at least, each rounded up to whole elements: the last ranks' chunks may be short or empty. `i` >= 0, taken
// modulo size.
Slice gloo_chunk(const PlanArgs& a, int i) {
  const std::int64_t longest = 2 * ((a.count + 2 * a.size - 1) / (2 * a.size));
  const std::int64_t first = std::min(a.count, (i % a.size) * longest);
  return {first, std::min(longest, a.count - first), BufferId::output};
}

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

// Gloo's ring, chunk by chunk: the same last bits as Gloo's all_reduce.   2(p-1) rounds, about 2n(p-1)/p bytes sent
//   order   chunk c is summed from rank c - 1 downwards to rank c
//   source  gloo/allreduce.cc and gloo/reduce.cc. Above 1 MiB a segment Gloo's chunks are up to a few elements longer
Plan gloo_ring_all_reduce(PlanArgs a) {
  const DownRing ring{a};
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send(ring.to(), ring.chunk(a.rank + k)), receive_reduce(ring.from(), ring.chunk(a.rank + k + 1)));
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(ring.to(), ring.chunk(a.rank + k)), receive(ring.from(), ring.chunk(a.rank + k + 1)));
}

// Its reduce: the same reduce-scatter, then one round of chunks to the root. PyTorch reduces in the tensor itself on every rank, so
// what is in the scratch at the end is what the others' tensors hold: the partial sums.
//   source  gloo/reduce.cc; AsyncReduceWork in torch/csrc/distributed/c10d/ProcessGroupGloo.cpp
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

// Its broadcast: from rank r, counted from the root, to r + 2^i for each 2^i > r, all at once.   2 rounds of a rank, k messages deep
//   source  gloo/broadcast.cc
Plan gloo_tree_broadcast(PlanArgs a) {
  const int me = (a.rank - a.root + a.size) % a.size;
  const auto rank_of = [&a](int relative) { return (relative + a.root) % a.size; };
  int bit = 1;
  while (bit <= me) bit <<= 1;  // the lowest one above mine: my children have it, or a higher one
  if (me == 0)
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  else
    co_yield round(receive(rank_of(me - bit / 2), a.whole()));
  std::vector<Step> steps;
  for (; me + bit < a.size; bit <<= 1) steps.push_back(send(rank_of(me + bit), a.whole()));
  if (!steps.empty()) co_yield std::span<const Step>(steps);
}

PlanCost cost_of_gloo_ring(const PlanArgs& a) {
  PlanCost cost{2 * (a.size - 1), std::int64_t{2} * a.size * (a.size - 1), 0};
  for (int me = 0; me < a.size && a.size > 1; ++me) {
    const std::int64_t kept = gloo_chunk(a, me).count + gloo_chunk(a, me + a.size - 1).count;
    cost.elements_sent = std::max(cost.elements_sent, 2 * a.count - kept);
  }
  return cost;
}

PlanCost cost_of_ring_gather(const PlanArgs& a) {
  const int p = a.size;
  return {p > 1 ? p : 0, std::int64_t{p} * (p - 1) + p - 1, p > 1 ? a.count : 0};
}

PlanCost cost_of_gloo_tree(const PlanArgs& a) {
  PlanCost cost{0, a.size - 1, counting::ceil_log2(a.size) * a.count};
  cost.rounds = a.size > 3 ? 2 : std::min(1, a.size - 1);
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows gloo() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "gloo_ring",
                   .plan = gloo_ring_all_reduce,
                   .closed_form = cost_of_gloo_ring,
                   .formula = "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, in Gloo's chunks and order"},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "ring_gather",
                   .plan = ring_gather_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_ring_gather,
                   .formula = "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma",
                   .leaves_scratch = true},
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "gloo_tree",
                   .plan = gloo_tree_broadcast,
                   .closed_form = cost_of_gloo_tree,
                   .formula = "k (alpha + n beta) at most, as Gloo: a rank sends to all its children at once"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
