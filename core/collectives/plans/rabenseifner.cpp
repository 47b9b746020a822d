// Recursive halving scatters a vector among a power of two of ranks, recursive doubling or a binomial tree gathers it.
//   source  Rabenseifner, "Optimization of collective reduction operations", ICCS 2004

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"
#include "core/collectives/plans/fold.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

// Recursive halving, then recursive doubling of chunks; folds as recursive doubling does.   2 log2 q rounds, and 2
//   source  Rabenseifner, "Optimization of collective reduction operations", ICCS 2004
Plan rabenseifner_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int power = 1;
  while (power * 2 <= a.size) power *= 2;
  const int folded = a.size - power;
  const bool in_pair = a.rank < 2 * folded;
  if (in_pair && a.rank % 2 == 0) {
    co_yield round(send(a.rank + 1, a.whole()));
    co_yield round(receive(a.rank + 1, a.whole()));
    co_return;
  }
  if (in_pair) co_yield round(receive_reduce(a.rank - 1, a.whole()));
  const int me = in_pair ? a.rank / 2 : a.rank - folded;
  const auto rank_of = [folded](int i) { return i < folded ? 2 * i + 1 : i + folded; };
  for (int mask = power / 2; mask > 0; mask /= 2) {
    const int keep = me & ~(mask - 1);
    const int give = keep ^ mask;
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, a.whole().chunks(power, give, mask)),
                   receive_reduce(peer, a.whole().chunks(power, keep, mask)));
  }
  for (int mask = 1; mask < power; mask *= 2) {
    const int own = me & ~(mask - 1);
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, a.whole().chunks(power, own, mask)),
                   receive(peer, a.whole().chunks(power, own ^ mask, mask)));
  }
  if (in_pair) co_yield round(send(a.rank - 1, a.whole()));
}

// Recursive halving, then a binomial gather of the chunks to the root.   2f rounds, and 1 with a fold
//   source  Rabenseifner, 2004
Plan rabenseifner_reduce(PlanArgs a) {
  const int me = (a.rank - a.root + a.size) % a.size;
  const auto rank_of = [&a](int relative) { return (relative + a.root) % a.size; };
  int power = 1;
  while (power * 2 <= a.size) power *= 2;
  const BufferId where = me == 0 ? BufferId::output : BufferId::scratch;
  const Slice all{0, a.count, where};
  co_yield round(copy(all, {0, a.count, BufferId::input}));
  if (me >= power) {
    co_yield round(send(rank_of(me - power), all));
    co_return;
  }
  if (me + power < a.size) co_yield round(receive_reduce(rank_of(me + power), all));
  const auto chunks = [&](int first, int many) { return all.chunks(power, first, many); };
  for (int mask = power / 2; mask > 0; mask /= 2) {
    const int keep = me & ~(mask - 1);
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, chunks(keep ^ mask, mask)), receive_reduce(peer, chunks(keep, mask)));
  }
  for (int bit = 1; bit < power; bit *= 2) {
    if ((me & bit) != 0) {
      co_yield round(send(rank_of(me - bit), chunks(me, bit)));
      co_return;
    }
    co_yield round(receive(rank_of(me + bit), chunks(me + bit, bit)));
  }
}

// The mirror of the doubling all-gather: distances power/2 ... 2, 1, ever fewer parts.   f rounds, and 2
// Works on a copy of the input, for the input belongs to the caller.
Plan recursive_halving_reduce_scatter(PlanArgs a) {
  const Fold fold(a.size);
  const auto block = [&a](int i) {
    Slice s = a.input_part(i);
    s.buffer = BufferId::scratch;
    return s;
  };
  const auto spoken_for = [&](int index, int many) {
    return joined(block(fold.first_of(index)), block(fold.first_of(index + many) - 1));
  };
  const Slice all = joined(block(0), block(a.size - 1));
  const Slice own{0, block(a.rank).count, BufferId::output};
  co_yield round(copy(all, {0, all.count, BufferId::input}));
  if (fold.passive(a.rank)) {
    co_yield round(send(a.rank + 1, all));
    co_yield round(receive(a.rank + 1, own));
    co_return;
  }
  if (fold.in_pair(a.rank)) co_yield round(receive_reduce(a.rank - 1, all));
  const int me = fold.index_of(a.rank);
  for (int mask = fold.power / 2; mask > 0; mask /= 2) {
    const int keep = me & ~(mask - 1);
    const Rank peer = fold.rank_of(me ^ mask);
    co_yield round(send(peer, spoken_for(keep ^ mask, mask)), receive_reduce(peer, spoken_for(keep, mask)));
  }
  if (fold.in_pair(a.rank)) co_yield round(send(a.rank - 1, block(a.rank - 1)));
  co_yield round(copy(own, block(a.rank)));
}

// Binomial scatter of 2^f chunks, then recursive doubling; the other ranks get the whole from a partner.
//   source  Thakur, Rabenseifner, Gropp, 2005
Plan scatter_doubling_broadcast(PlanArgs a) {
  const int me = (a.rank - a.root + a.size) % a.size;
  const auto rank_of = [&a](int relative) { return (relative + a.root) % a.size; };
  int power = 1;
  while (power * 2 <= a.size) power *= 2;
  if (me >= power) {
    co_yield round(receive(rank_of(me - power), a.whole()));
    co_return;
  }
  const auto chunks = [&](int first, int many) { return a.whole().chunks(power, first, many); };
  int bit = 1;
  while (bit < power && (me & bit) == 0) bit *= 2;
  if (me == 0) {
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  } else {
    co_yield round(receive(rank_of(me - bit), chunks(me, bit)));
  }
  for (bit /= 2; bit > 0; bit /= 2) co_yield round(send(rank_of(me + bit), chunks(me + bit, bit)));
  for (int mask = 1; mask < power; mask *= 2) {
    const int mine = me & ~(mask - 1);
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, chunks(mine, mask)), receive(peer, chunks(mine ^ mask, mask)));
  }
  if (me + power < a.size) co_yield round(send(rank_of(me + power), a.whole()));
}

PlanCost cost_of_rabenseifner(const PlanArgs& a) {
  const int f = counting::floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 2 : 0), std::int64_t{2} * q * f + 2 * r, 0};
  for (int me = 0; me < q; ++me) {
    const std::int64_t sent =
        a.count - counting::chunks(q, me, 1, a.count) + counting::doubled(q, me, a.count) + (me < r ? a.count : 0);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

PlanCost cost_of_halving_gather(const PlanArgs& a) {
  const int f = counting::floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 1 : 0), r + std::int64_t{q} * f + q - 1, r > 0 ? a.count : 0};
  for (int me = 0; me < q; ++me) {
    const std::int64_t gathered =
        me == 0 ? 0 : counting::chunks(q, me, static_cast<int>(counting::lowest_bit(me)), a.count);
    cost.elements_sent = std::max(cost.elements_sent, a.count - counting::chunks(q, me, 1, a.count) + gathered);
  }
  return cost;
}

PlanCost cost_of_halving_blocks(const PlanArgs& a) {
  const Fold fold(a.size);
  const std::int64_t f = counting::floor_log2(a.size);
  PlanCost cost{f + (fold.folded > 0 ? 2 : 0), f * fold.power + 2 * fold.folded,
                fold.folded > 0 ? a.size * a.count : 0};
  for (int me = 0; me < fold.power; ++me) {
    std::int64_t blocks = me < fold.folded ? 1 : 0;
    for (int mask = 1; mask < fold.power; mask *= 2) {
      const int given = (me & ~(mask - 1)) ^ mask;
      blocks += fold.first_of(given + mask) - fold.first_of(given);
    }
    cost.elements_sent = std::max(cost.elements_sent, blocks * a.count);
  }
  return cost;
}

PlanCost cost_of_scatter_doubling(const PlanArgs& a) {
  const int f = counting::floor_log2(a.size), q = 1 << f, r = a.size - q;
  PlanCost cost{2 * f + (r > 0 ? 1 : 0), q - 1 + std::int64_t{q} * f + r, 0};
  for (int me = 0; me < q; ++me) {
    const int below = me == 0 ? q : static_cast<int>(counting::lowest_bit(me));
    const std::int64_t sent =
        counting::chunks(q, me + 1, below - 1, a.count) + counting::doubled(q, me, a.count) + (me < r ? a.count : 0);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows rabenseifner() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{
          .kinds = {K::all_reduce},
          .name = "rabenseifner",
          .plan = rabenseifner_all_reduce,
          .closed_form = cost_of_rabenseifner,
          .formula = "2 log2(q) alpha + 2n(q-1)/q beta + n(q-1)/q gamma; a fold adds 2(alpha + n beta) + n gamma"},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "rabenseifner",
                   .plan = rabenseifner_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_halving_gather,
                   .formula = "2f alpha + 2n(q-1)/q beta + n(q-1)/q gamma; other ranks add alpha + n beta + n gamma"},
      AlgorithmRow{.kinds = {K::reduce_scatter, K::reduce_scatter_v},
                   .name = "recursive_halving",
                   .plan = recursive_halving_reduce_scatter,
                   .scratch = whole_input,
                   .closed_form = cost_of_halving_blocks,
                   .formula = "k alpha + (p-1) n (beta + gamma), n of the largest part; a fold adds 2 alpha + (p+1) n "
                              "beta + p n gamma"},
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "scatter_doubling",
                   .plan = scatter_doubling_broadcast,
                   .closed_form = cost_of_scatter_doubling,
                   .formula = "2f alpha + 2n(q-1)/q beta; other ranks add alpha + n beta"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
