#include "core/collectives/fold.h"
#include "core/collectives/plans.h"

namespace pdsim {
namespace {

// The parts first .. last - 1, which lie one after the other.
Slice parts(const Slice& first, const Slice& last) {
  return {first.offset, last.offset + last.count - first.offset, first.buffer};
}

}  // namespace

Plan recursive_doubling_all_gather(PlanArgs a) {
  const Fold fold(a.size);
  const auto spoken_for = [&](int index, int many) {
    return parts(a.output_part(fold.first_of(index)), a.output_part(fold.first_of(index + many) - 1));
  };
  const Slice all = parts(a.output_part(0), a.output_part(a.size - 1));
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

// Works on a copy of the input, for the input belongs to the caller.
Plan recursive_halving_reduce_scatter(PlanArgs a) {
  const Fold fold(a.size);
  const auto block = [&a](int i) {
    Slice s = a.input_part(i);
    s.buffer = BufferId::scratch;
    return s;
  };
  const auto spoken_for = [&](int index, int many) {
    return parts(block(fold.first_of(index)), block(fold.first_of(index + many) - 1));
  };
  const Slice all = parts(block(0), block(a.size - 1));
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

Plan pairwise_xor_all_to_all(PlanArgs a) {
  if ((a.size & (a.size - 1)) != 0) return pairwise_all_to_all(a);
  return [](PlanArgs b) -> Plan {
    co_yield round(copy(b.output_part(b.rank), b.input_part(b.rank)));
    for (int k = 1; k < b.size; ++k) {
      const Rank peer = b.rank ^ k;
      co_yield round(send(peer, b.input_part(peer)), receive(peer, b.output_part(peer)));
    }
  }(a);
}

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

}  // namespace pdsim
