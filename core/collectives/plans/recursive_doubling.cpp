// Exchanges with partners at distance 1, 2, 4 ...; ranks above a power of two fold in and out (fold.h).

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"
#include "core/collectives/plans/fold.h"

#include <algorithm>
#include <array>

namespace pdsim {
namespace {

// Exchanges whole vectors with partners at distance 1, 2, 4 ...; p - 2^floor(log2 p) ranks fold in and out.
//   cost    k rounds of n bytes (power of two), two more with a fold
//   source  Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005
Plan recursive_doubling_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int power = 1;
  while (power * 2 <= a.size) power *= 2;
  const int folded = a.size - power;  // the first 2 * folded ranks fold in pairs
  const bool passive = a.rank < 2 * folded && a.rank % 2 == 0;
  const bool active_pair = a.rank < 2 * folded && a.rank % 2 == 1;
  if (passive) {
    co_yield round(send(a.rank + 1, a.whole()));
    co_yield round(receive(a.rank + 1, a.whole()));
    co_return;
  }
  if (active_pair) co_yield round(receive_reduce(a.rank - 1, a.whole()));
  const int me = active_pair ? a.rank / 2 : a.rank - folded;
  for (int mask = 1; mask < power; mask <<= 1) {
    const int partner = me ^ mask;
    const Rank peer = partner < folded ? partner * 2 + 1 : partner + folded;
    co_yield round(send(peer, a.whole()), receive_reduce(peer, a.whole()));
  }
  if (active_pair) co_yield round(send(a.rank - 1, a.whole()));
}

// Distances 1, 2, 4 ... and ever more parts; folds as recursive doubling does.   f rounds, and 2
Plan recursive_doubling_all_gather(PlanArgs a) {
  const Fold fold(a.size);
  const auto spoken_for = [&](int index, int many) {
    return joined(a.output_part(fold.first_of(index)), a.output_part(fold.first_of(index + many) - 1));
  };
  const Slice all = joined(a.output_part(0), a.output_part(a.size - 1));
  const Slice own = a.output_part(a.rank);
  co_yield round(copy(own, {0, own.count, BufferId::input}));
  if (fold.passive(a.rank)) {
    co_yield round(send(a.rank + 1, own));
    co_yield round(receive(a.rank + 1, all));
    co_return;
  }
  if (fold.in_pair(a.rank)) co_yield round(receive(a.rank - 1, a.output_part(a.rank - 1)));
  const int me = fold.index_of(a.rank);
  for (int mask = 1; mask < fold.power; mask *= 2) {
    const int mine = me & ~(mask - 1);
    const Rank peer = fold.rank_of(me ^ mask);
    co_yield round(send(peer, spoken_for(mine, mask)), receive(peer, spoken_for(mine ^ mask, mask)));
  }
  if (fold.in_pair(a.rank)) co_yield round(send(a.rank - 1, all));
}

Plan recursive_doubling_barrier(PlanArgs a) {
  a.count = 0;
  return recursive_doubling_all_reduce(a);
}

PlanCost cost_of_doubling(const PlanArgs& a) {
  const std::int64_t f = counting::floor_log2(a.size), q = std::int64_t{1} << f, r = a.size - q;
  return {f + (r > 0 ? 2 : 0), q * f + 2 * r, (f + (r > 0 ? 1 : 0)) * a.count};
}

PlanCost cost_of_doubling_blocks(const PlanArgs& a) {
  const Fold fold(a.size);
  const std::int64_t f = counting::floor_log2(a.size);
  PlanCost cost{f + (fold.folded > 0 ? 2 : 0), f * fold.power + 2 * fold.folded, 0};
  for (int me = 0; me < fold.power; ++me) {
    std::int64_t blocks = me < fold.folded ? a.size : 0;
    for (int mask = 1; mask < fold.power; mask *= 2) {
      const int mine = me & ~(mask - 1);
      blocks += fold.first_of(mine + mask) - fold.first_of(mine);
    }
    cost.elements_sent = std::max(cost.elements_sent, blocks * a.count);
  }
  return cost;
}

PlanCost cost_of_doubling_barrier(const PlanArgs& a) {
  PlanCost cost = cost_of_doubling(a);
  cost.elements_sent = 0;
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows recursive_doubling() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "recursive_doubling",
                   .plan = recursive_doubling_all_reduce,
                   .closed_form = cost_of_doubling,
                   .formula = "k (alpha + n beta + n gamma); with a fold (f+2)(alpha + n beta) + (f+1) n gamma"},
      AlgorithmRow{.kinds = {K::all_gather, K::all_gather_v},
                   .name = "recursive_doubling",
                   .plan = recursive_doubling_all_gather,
                   .closed_form = cost_of_doubling_blocks,
                   .formula = "k alpha + (p-1) n beta, n of the largest part; a fold adds 2 alpha + (p+1) n beta"},
      AlgorithmRow{.kinds = {K::barrier},
                   .name = "recursive_doubling",
                   .plan = recursive_doubling_barrier,
                   .closed_form = cost_of_doubling_barrier,
                   .formula = "k alpha; with a fold (f+2) alpha"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
