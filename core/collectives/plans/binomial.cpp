// Binomial trees: a rank's parent is the one without its lowest bit, counted from the root. Alone, one after the other, and
// scattering what a ring then gathers.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

// Ranks relative to the root, so that every tree is rooted at 0; blocks of `count` elements in scratch, the own one first.
struct BinomialTree {
  PlanArgs a;
  int me;
  explicit BinomialTree(const PlanArgs& args) : a(args), me((a.rank - a.root + a.size) % a.size) {}
  Rank back(int relative) const { return (relative + a.root) % a.size; }
  Slice blocks(int first, int many) const { return {first * a.count, many * a.count, BufferId::scratch}; }
  int parent_bit() const {
    int bit = 1;
    while (bit < a.size && (me & bit) == 0) bit <<= 1;
    return bit;
  }
  // How many relative ranks the subtree below `child` holds, when its parent is `bit` away.
  int below(int child, int bit) const { return std::min(bit, a.size - child); }
};

// Binomial tree from the root.   k rounds at the deepest rank, p-1 messages of n bytes
Plan binomial_broadcast(PlanArgs a) {
  const BinomialTree tree(a);
  const int me = tree.me;
  if (me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int mask = 1;
  while (mask < a.size && (me & mask) == 0) mask <<= 1;
  if (me != 0) co_yield round(receive(tree.back(me - mask), a.whole()));
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (me + mask < a.size) co_yield round(send(tree.back(me + mask), a.whole()));
}

// The mirror: children combine into parents.   order: a parent adds its children from the nearest to the farthest
Plan binomial_reduce(PlanArgs a) {
  const BinomialTree tree(a);
  const int me = tree.me;
  const Slice sum{0, a.count, me == 0 ? BufferId::output : BufferId::scratch};
  co_yield round(copy(sum, {0, a.count, BufferId::input}));
  for (int mask = 1; mask < a.size; mask <<= 1) {
    if ((me & mask) != 0) {
      co_yield round(send(tree.back(me - mask), sum));
      co_return;
    }
    if (me + mask < a.size) co_yield round(receive_reduce(tree.back(me + mask), sum));
  }
}

// Both binomial, rank 0 between them
Plan reduce_broadcast_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int bit = 1;
  for (; bit < a.size && (a.rank & bit) == 0; bit <<= 1)
    if (a.rank + bit < a.size) co_yield round(receive_reduce(a.rank + bit, a.whole()));
  if (a.rank != 0) {
    co_yield round(send(a.rank - bit, a.whole()));
    co_yield round(receive(a.rank - bit, a.whole()));
  }
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (a.rank + bit < a.size) co_yield round(send(a.rank + bit, a.whole()));
}

// k rounds, p-1 messages
Plan binomial_gather(PlanArgs a) {
  const BinomialTree tree(a);
  co_yield round(copy(tree.blocks(0, 1), {0, a.count, BufferId::input}));
  for (int bit = 1; bit < a.size; bit <<= 1) {
    if ((tree.me & bit) != 0) {
      co_yield round(send(tree.back(tree.me - bit), tree.blocks(0, tree.below(tree.me, bit))));
      co_return;
    }
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(receive(tree.back(child), tree.blocks(bit, tree.below(child, bit))));
  }
  const std::int64_t first = a.root * a.count, tail = a.size * a.count - first;
  co_yield round(copy({first, tail, BufferId::output}, {0, tail, BufferId::scratch}),
                 copy({0, first, BufferId::output}, {tail, first, BufferId::scratch}));
}

// k rounds, p-1 messages
Plan binomial_scatter(PlanArgs a) {
  const BinomialTree tree(a);
  int bit = tree.parent_bit();
  if (tree.me == 0) {
    const std::int64_t first = a.root * a.count, tail = a.size * a.count - first;
    co_yield round(copy({0, tail, BufferId::scratch}, {first, tail, BufferId::input}),
                   copy({tail, first, BufferId::scratch}, {0, first, BufferId::input}));
  } else {
    co_yield round(receive(tree.back(tree.me - bit), tree.blocks(0, tree.below(tree.me, bit))));
  }
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(send(tree.back(child), tree.blocks(bit, tree.below(child, bit))));
  co_yield round(copy(a.whole(), tree.blocks(0, 1)));
}

// Binomial scatter of p chunks, then a ring.   k + p - 1 rounds, at most 2n(p-1)/p bytes sent
//   source  Thakur, Rabenseifner, Gropp, 2005
Plan scatter_ring_broadcast(PlanArgs a) {
  const BinomialTree tree(a);
  if (tree.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  const auto range = [&a](int first, int many) {
    const Slice last = a.chunk(first + many - 1);
    return Slice{a.chunk(first).offset, last.offset + last.count - a.chunk(first).offset, BufferId::output};
  };
  int bit = tree.parent_bit();
  if (tree.me != 0) co_yield round(receive(tree.back(tree.me - bit), range(tree.me, tree.below(tree.me, bit))));
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(send(tree.back(child), range(child, tree.below(child, bit))));
  const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(next, a.chunk(tree.me - k)), receive(previous, a.chunk(tree.me - k - 1)));
}

// Binomial, to rank 0 and back
Plan tree_barrier(PlanArgs a) {
  a.count = 0;
  return reduce_broadcast_all_reduce(a);
}

PlanCost cost_of_tree_down(const PlanArgs& a) {
  return {counting::ceil_log2(a.size), a.size - 1, counting::ceil_log2(a.size) * a.count};
}

PlanCost cost_of_tree_up(const PlanArgs& a) {
  return {counting::ceil_log2(a.size), a.size - 1, a.size > 1 ? a.count : 0};
}

PlanCost cost_of_reduce_broadcast(const PlanArgs& a) {
  const std::int64_t k = counting::ceil_log2(a.size);
  return {2 * k, 2 * (a.size - 1), k * a.count};
}

PlanCost cost_of_binomial_gather(const PlanArgs& a) {
  PlanCost cost{counting::ceil_log2(a.size), a.size - 1, 0};
  for (int me = 1; me < a.size; ++me)
    cost.elements_sent =
        std::max(cost.elements_sent, std::min<std::int64_t>(counting::lowest_bit(me), a.size - me) * a.count);
  return cost;
}

PlanCost cost_of_binomial_scatter(const PlanArgs& a) {
  return {counting::ceil_log2(a.size), a.size - 1, (a.size - 1) * a.count};
}

PlanCost cost_of_scatter_ring(const PlanArgs& a) {
  const int p = a.size;
  PlanCost cost{p > 1 ? counting::ceil_log2(p) + p - 1 : 0, std::int64_t{p} * (p - 1) + p - 1, 0};
  for (int me = 0; me < p; ++me) {
    const int below = me == 0 ? p : static_cast<int>(std::min<std::int64_t>(counting::lowest_bit(me), p - me));
    const std::int64_t scattered = counting::chunks(p, me + 1, below - 1, a.count);
    cost.elements_sent =
        std::max(cost.elements_sent, scattered + a.count - counting::chunks(p, (me + 1) % p, 1, a.count));
  }
  return cost;
}

PlanCost cost_of_tree_barrier(const PlanArgs& a) { return {2 * counting::ceil_log2(a.size), 2 * (a.size - 1), 0}; }

}  // namespace

namespace families {

AlgorithmRows binomial() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "binomial",
                   .plan = binomial_broadcast,
                   .closed_form = cost_of_tree_down,
                   .formula = "k (alpha + n beta)",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "binomial",
                   .plan = binomial_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_tree_up,
                   .formula = "k (alpha + n beta + n gamma)",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "reduce_broadcast",
                   .plan = reduce_broadcast_all_reduce,
                   .closed_form = cost_of_reduce_broadcast,
                   .formula = "2k (alpha + n beta) + k n gamma"},
      AlgorithmRow{.kinds = {K::gather},
                   .name = "binomial",
                   .plan = binomial_gather,
                   .scratch = part_of_each_rank,
                   .closed_form = cost_of_binomial_gather,
                   .formula = "k alpha + (p-1) n beta, n of one rank"},
      AlgorithmRow{.kinds = {K::scatter},
                   .name = "binomial",
                   .plan = binomial_scatter,
                   .scratch = part_of_each_rank,
                   .closed_form = cost_of_binomial_scatter,
                   .formula = "k alpha + (p-1) n beta, n of one rank"},
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "scatter_ring",
                   .plan = scatter_ring_broadcast,
                   .closed_form = cost_of_scatter_ring,
                   .formula = "(k+p-1) alpha + 2n(p-1)/p beta"},
      AlgorithmRow{.kinds = {K::barrier},
                   .name = "tree",
                   .plan = tree_barrier,
                   .closed_form = cost_of_tree_barrier,
                   .formula = "2k alpha"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
