#include "core/collectives/plans.h"

#include <vector>

namespace pdsim {
namespace {

// Ranks relative to the root, so that every tree is rooted at 0.
struct Relative {
  int size, root;
  explicit Relative(const PlanArgs& a) : size(a.size), root(a.root) {}
  int of(Rank r) const { return (r - root + size) % size; }
  Rank back(int relative) const { return (relative + root) % size; }
};

}  // namespace

Plan binomial_broadcast(PlanArgs a) {
  const Relative tree(a);
  const int me = tree.of(a.rank);
  if (me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int mask = 1;
  while (mask < a.size && (me & mask) == 0) mask <<= 1;
  if (me != 0) co_yield round(receive(tree.back(me - mask), a.whole()));
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (me + mask < a.size) co_yield round(send(tree.back(me + mask), a.whole()));
}

Plan gloo_tree_broadcast(PlanArgs a) {
  const Relative tree(a);
  const int me = tree.of(a.rank);
  int bit = 1;
  while (bit <= me) bit <<= 1;  // the lowest one above mine: my children have it, or a higher one
  if (me == 0)
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  else
    co_yield round(receive(tree.back(me - bit / 2), a.whole()));
  std::vector<Step> steps;
  for (; me + bit < a.size; bit <<= 1) steps.push_back(send(tree.back(me + bit), a.whole()));
  if (!steps.empty()) co_yield std::span<const Step>(steps);
}

Plan binomial_reduce(PlanArgs a) {
  const Relative tree(a);
  const int me = tree.of(a.rank);
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

Plan dissemination_barrier(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  for (int distance = 1; distance < a.size; distance *= 2)
    co_yield round(send((a.rank + distance) % a.size, nothing),
                   receive((a.rank - distance % a.size + a.size) % a.size, nothing));
}

Plan recursive_doubling_barrier(PlanArgs a) {
  a.count = 0;
  return recursive_doubling_all_reduce(a);
}

Plan linear_barrier(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  if (a.rank != 0) {
    co_yield round(send(0, nothing));
    co_yield round(receive(0, nothing));
    co_return;
  }
  std::vector<Step> steps;
  for (Rank r = 1; r < a.size; ++r) steps.push_back(receive(r, nothing));
  co_yield std::span<const Step>(steps);
  for (Step& s : steps) s = send(s.peer, nothing);
  co_yield std::span<const Step>(steps);
}

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

}  // namespace pdsim
