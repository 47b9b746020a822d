#include "core/collectives/plan_costs.h"

#include "core/collectives/fold.h"
#include "core/collectives/plans.h"
#include "core/collectives/tree_pair.h"

#include <algorithm>
#include <bit>

namespace pdsim::costs {
namespace {

using I = std::int64_t;

int ceil_log2(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p - 1))); }
int floor_log2(int p) { return static_cast<int>(std::bit_width(static_cast<unsigned>(p))) - 1; }

// Elements in the chunks first .. first + many - 1 of p.
I chunks(int p, int first, int many, I n) {
  const I base = n / p, longer = n % p;
  return many * base + std::clamp<I>(longer - first, 0, many);
}

// Each rank sends every chunk but one in each half; the busiest leaves out the two shortest that its position allows.
I around_ring(int p, int me, I n) { return 2 * n - chunks(p, (me + 1) % p, 1, n) - chunks(p, (me + 2) % p, 1, n); }

I busiest_of_ring(int p, I n) {
  I most = 0;
  for (int me = 0; me < p; ++me) most = std::max(most, around_ring(p, me, n));
  return p == 1 ? 0 : most;
}

// What doubling over q chunks sends: as many chunks as it has got so far.
I doubled(int q, int me, I n) {
  I sent = 0;
  for (int mask = 1; mask < q; mask *= 2) sent += chunks(q, me & ~(mask - 1), mask, n);
  return sent;
}

I lowest_bit(int me) { return me & -me; }

}  // namespace

PlanCost nothing(const PlanArgs&) { return {}; }

PlanCost ring(const PlanArgs& a) {
  return {2 * (a.size - 1), I{2} * a.size * (a.size - 1), busiest_of_ring(a.size, a.count)};
}

PlanCost segmented_ring(const PlanArgs& a) {
  PlanCost cost = ring(a);
  cost.rounds *= ring_segments;
  cost.messages *= ring_segments;
  return cost;
}

PlanCost gloo_ring(const PlanArgs& a) {
  PlanCost cost{2 * (a.size - 1), I{2} * a.size * (a.size - 1), 0};
  for (int me = 0; me < a.size && a.size > 1; ++me) {
    const I kept = gloo_chunk(a, me).count + gloo_chunk(a, me + a.size - 1).count;
    cost.elements_sent = std::max(cost.elements_sent, 2 * a.count - kept);
  }
  return cost;
}

PlanCost doubling(const PlanArgs& a) {
  const I f = floor_log2(a.size), q = I{1} << f, r = a.size - q;
  return {f + (r > 0 ? 2 : 0), q * f + 2 * r, (f + (r > 0 ? 1 : 0)) * a.count};
}

PlanCost rabenseifner(const PlanArgs& a) {
  const int f = floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 2 : 0), I{2} * q * f + 2 * r, 0};
  for (int me = 0; me < q; ++me) {
    const I sent = a.count - chunks(q, me, 1, a.count) + doubled(q, me, a.count) + (me < r ? a.count : 0);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

PlanCost bcube(const PlanArgs& a) {
  const int p = a.size;
  PlanCost cost;
  for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f) {
    if (rest % f != 0) continue;
    cost.rounds += 2;
    cost.messages += I{2} * p * (f - 1);
  }
  for (int me = 0; me < p; ++me) {
    I sent = a.count - chunks(p, me, 1, a.count);
    for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f)
      if (rest % f == 0) sent += (f - 1) * chunks(p, me / (rest / f) * (rest / f), rest / f, a.count);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

PlanCost reduce_broadcast(const PlanArgs& a) {
  const I k = ceil_log2(a.size);
  return {2 * k, 2 * (a.size - 1), k * a.count};
}

// Every edge is busy for one run of ticks, one per segment; a rank's rounds are the ticks that its edges cover.
PlanCost double_tree(const PlanArgs& a) {
  if (a.size == 1) return {};
  const int top = tree_levels(a.size);
  PlanCost cost{0, I{4} * (a.size - 1) * tree_segments, 0};
  for (Rank me = 0; me < a.size; ++me) {
    std::array<int, 12> starts{};
    std::size_t edges = 0;
    I sent = 0;
    for (int tree = 0; tree < 2; ++tree) {
      const TreePlace place = place_in_tree(tree, me, a.size);
      const I half = chunks(2 * tree_segments, tree * tree_segments, tree_segments, a.count);
      for (const Rank child : place.children) {
        if (child == no_rank) continue;
        starts[edges++] = place_in_tree(tree, child, a.size).level;
        starts[edges++] = 2 * top - place.level;
        sent += half;
      }
      if (place.parent == no_rank) continue;
      starts[edges++] = place.level;
      starts[edges++] = 2 * top - place.parent_level;
      sent += half;
    }
    std::sort(starts.begin(), starts.begin() + edges);
    I rounds = 0;
    for (std::size_t i = 0; i < edges; ++i)
      rounds += i + 1 == edges ? tree_segments : std::min(tree_segments, starts[i + 1] - starts[i]);
    cost.rounds = std::max(cost.rounds, rounds);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

PlanCost two_level(const PlanArgs& a) {
  const int local = std::clamp(a.ranks_per_node, 1, a.size), nodes = (a.size + local - 1) / local;
  if (a.size % local != 0) {
    PlanCost cost{2 * ceil_log2(local) + 2 * (nodes - 1), 2 * (a.size - nodes) + I{2} * nodes * (nodes - 1), 0};
    for (int node = 0; node < nodes; ++node) {
      const int here = std::min(local, a.size - node * local);
      cost.elements_sent = std::max(cost.elements_sent, ceil_log2(here) * a.count + around_ring(nodes, node, a.count));
    }
    return cost;
  }
  PlanCost cost{2 * (local - 1) + 2 * (nodes - 1), 0, 0};
  cost.messages = cost.rounds * a.size;
  for (int me = 0; me < local; ++me) {
    const I own = chunks(local, (me + 1) % local, 1, a.count);
    const I inside = local == 1 ? 0 : around_ring(local, me, a.count);
    cost.elements_sent = std::max(cost.elements_sent, inside + busiest_of_ring(nodes, own));
  }
  return cost;
}

PlanCost knomial(const PlanArgs& a) {
  int power = 1, digits = 0;
  for (; power * knomial_radix <= a.size; ++digits) power *= knomial_radix;
  const int extras = a.size - power, of_first = (a.size - 1) / power;
  return {digits + (extras > 0 ? 2 : 0), I{power} * digits * (knomial_radix - 1) + 2 * extras,
          (I{digits} * (knomial_radix - 1) + of_first) * a.count};
}

PlanCost tree_down(const PlanArgs& a) { return {ceil_log2(a.size), a.size - 1, ceil_log2(a.size) * a.count}; }

PlanCost gloo_tree(const PlanArgs& a) {
  PlanCost cost = tree_down(a);
  cost.rounds = a.size > 3 ? 2 : std::min(1, a.size - 1);
  return cost;
}

PlanCost tree_up(const PlanArgs& a) { return {ceil_log2(a.size), a.size - 1, a.size > 1 ? a.count : 0}; }

PlanCost knomial_down(const PlanArgs& a) {
  PlanCost cost{0, a.size - 1, 0};
  for (int stride = 1; stride < a.size; stride *= knomial_radix) {
    ++cost.rounds;
    cost.elements_sent += std::min(knomial_radix - 1, (a.size - 1) / stride) * a.count;
  }
  return cost;
}

PlanCost chain(const PlanArgs& a) {
  if (a.size == 1) return {};
  return {chain_segments + (a.size > 2 ? 1 : 0), I{chain_segments} * (a.size - 1), a.count};
}

PlanCost binary_tree_down(const PlanArgs& a) {
  if (a.size == 1) return {};
  return {tree_segments + (a.size > 3 ? 1 : 0), I{tree_segments} * (a.size - 1), std::min(2, a.size - 1) * a.count};
}

PlanCost binary_tree_up(const PlanArgs& a) {
  PlanCost cost = binary_tree_down(a);
  cost.elements_sent = a.size > 1 ? a.count : 0;
  return cost;
}

PlanCost scatter_ring(const PlanArgs& a) {
  const int p = a.size;
  PlanCost cost{p > 1 ? ceil_log2(p) + p - 1 : 0, I{p} * (p - 1) + p - 1, 0};
  for (int me = 0; me < p; ++me) {
    const int below = me == 0 ? p : static_cast<int>(std::min<I>(lowest_bit(me), p - me));
    const I scattered = chunks(p, me + 1, below - 1, a.count);
    cost.elements_sent = std::max(cost.elements_sent, scattered + a.count - chunks(p, (me + 1) % p, 1, a.count));
  }
  return cost;
}

PlanCost scatter_doubling(const PlanArgs& a) {
  const int f = floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 1 : 0), q - 1 + I{q} * f + r, 0};
  for (int me = 0; me < q; ++me) {
    const int below = me == 0 ? q : static_cast<int>(lowest_bit(me));
    const I sent = chunks(q, me + 1, below - 1, a.count) + doubled(q, me, a.count) + (me < r ? a.count : 0);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

PlanCost ring_gather(const PlanArgs& a) {
  const int p = a.size;
  return {p > 1 ? p : 0, I{p} * (p - 1) + p - 1, p > 1 ? a.count : 0};
}

PlanCost halving_gather(const PlanArgs& a) {
  const int f = floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 1 : 0), r + I{q} * f + q - 1, r > 0 ? a.count : 0};
  for (int me = 0; me < q; ++me) {
    const I gathered = me == 0 ? 0 : chunks(q, me, static_cast<int>(lowest_bit(me)), a.count);
    cost.elements_sent = std::max(cost.elements_sent, a.count - chunks(q, me, 1, a.count) + gathered);
  }
  return cost;
}

PlanCost to_root(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, a.size - 1, a.size > 1 ? a.count : 0}; }
PlanCost from_root(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, a.size - 1, (a.size - 1) * a.count}; }

PlanCost binomial_gather(const PlanArgs& a) {
  PlanCost cost{ceil_log2(a.size), a.size - 1, 0};
  for (int me = 1; me < a.size; ++me)
    cost.elements_sent = std::max(cost.elements_sent, std::min<I>(lowest_bit(me), a.size - me) * a.count);
  return cost;
}

PlanCost binomial_scatter(const PlanArgs& a) { return {ceil_log2(a.size), a.size - 1, (a.size - 1) * a.count}; }

PlanCost ring_blocks(const PlanArgs& a) { return {a.size - 1, I{a.size} * (a.size - 1), (a.size - 1) * a.count}; }

PlanCost bruck_gather(const PlanArgs& a) {
  return {ceil_log2(a.size), I{a.size} * ceil_log2(a.size), (a.size - 1) * a.count};
}

PlanCost doubling_blocks(const PlanArgs& a) {
  const Fold fold(a.size);
  const I f = floor_log2(a.size);
  PlanCost cost{f + (fold.folded > 0 ? 2 : 0), f * fold.power + 2 * fold.folded, 0};
  for (int me = 0; me < fold.power; ++me) {
    I blocks = me < fold.folded ? a.size : 0;
    for (int mask = 1; mask < fold.power; mask *= 2) {
      const int mine = me & ~(mask - 1);
      blocks += fold.first_of(mine + mask) - fold.first_of(mine);
    }
    cost.elements_sent = std::max(cost.elements_sent, blocks * a.count);
  }
  return cost;
}

PlanCost halving_blocks(const PlanArgs& a) {
  const Fold fold(a.size);
  const I f = floor_log2(a.size);
  PlanCost cost{f + (fold.folded > 0 ? 2 : 0), f * fold.power + 2 * fold.folded,
                fold.folded > 0 ? a.size * a.count : 0};
  for (int me = 0; me < fold.power; ++me) {
    I blocks = me < fold.folded ? 1 : 0;
    for (int mask = 1; mask < fold.power; mask *= 2) {
      const int given = (me & ~(mask - 1)) ^ mask;
      blocks += fold.first_of(given + mask) - fold.first_of(given);
    }
    cost.elements_sent = std::max(cost.elements_sent, blocks * a.count);
  }
  return cost;
}

PlanCost neighbour_blocks(const PlanArgs& a) {
  if (a.size % 2 == 1) return ring_blocks(a);
  return {a.size / 2, I{a.size} * (a.size / 2), (a.size - 1) * a.count};
}

PlanCost bruck_exchange(const PlanArgs& a) {
  PlanCost cost{ceil_log2(a.size), I{a.size} * ceil_log2(a.size), 0};
  for (int i = 1; i < a.size; ++i) cost.elements_sent += std::popcount(static_cast<unsigned>(i)) * a.count;
  return cost;
}

PlanCost one_round(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, I{a.size} * (a.size - 1), (a.size - 1) * a.count}; }

PlanCost dissemination(const PlanArgs& a) { return {ceil_log2(a.size), I{a.size} * ceil_log2(a.size), 0}; }

PlanCost doubling_barrier(const PlanArgs& a) {
  PlanCost cost = doubling(a);
  cost.elements_sent = 0;
  return cost;
}

PlanCost linear_barrier(const PlanArgs& a) { return {a.size > 1 ? 2 : 0, 2 * (a.size - 1), 0}; }
PlanCost tree_barrier(const PlanArgs& a) { return {2 * ceil_log2(a.size), 2 * (a.size - 1), 0}; }
PlanCost double_ring(const PlanArgs& a) { return {a.size > 1 ? 4 : 0, a.size > 1 ? 2 * a.size : 0, 0}; }

PlanCost scan_chain(const PlanArgs& a) { return {a.size < 3 ? a.size - 1 : 2, a.size - 1, a.size > 1 ? a.count : 0}; }

PlanCost scan_doubling(const PlanArgs& a) {
  PlanCost cost{ceil_log2(a.size), 0, ceil_log2(a.size) * a.count};
  for (int d = 1; d < a.size; d *= 2) cost.messages += a.size - d;
  return cost;
}

PlanCost direct(const PlanArgs& a) { return {1, 1, a.count}; }

}  // namespace pdsim::costs
