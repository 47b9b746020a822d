#include "core/collectives/plans.h"

#include <algorithm>
#include <vector>

namespace pdsim {
namespace {

Plan equal_nodes(PlanArgs a, int local) {
  const int nodes = a.size / local;
  const int me = a.rank % local, node = a.rank / local;
  const auto on_node = [&](int l) { return node * local + (l + local) % local; };
  const auto across = [&](int n) { return (n + nodes) % nodes * local + me; };
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int k = 0; k < local - 1; ++k)
    co_yield round(send(on_node(me + 1), a.whole().chunk(local, me - k)),
                   receive_reduce(on_node(me - 1), a.whole().chunk(local, me - k - 1)));
  const Slice own = a.whole().chunk(local, me + 1);
  for (int k = 0; k < nodes - 1; ++k)
    co_yield round(send(across(node + 1), own.chunk(nodes, node - k)),
                   receive_reduce(across(node - 1), own.chunk(nodes, node - k - 1)));
  for (int k = 0; k < nodes - 1; ++k)
    co_yield round(send(across(node + 1), own.chunk(nodes, node + 1 - k)),
                   receive(across(node - 1), own.chunk(nodes, node - k)));
  for (int k = 0; k < local - 1; ++k)
    co_yield round(send(on_node(me + 1), a.whole().chunk(local, me + 1 - k)),
                   receive(on_node(me - 1), a.whole().chunk(local, me - k)));
}

// The first rank of each node leads: a tree to it, a ring among the leaders, the tree back.
Plan leaders(PlanArgs a, int local) {
  const int nodes = (a.size + local - 1) / local;
  const int me = a.rank % local, node = a.rank / local;
  const int here = std::min(local, a.size - node * local);
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int bit = 1;
  for (; bit < here && (me & bit) == 0; bit *= 2)
    if (me + bit < here) co_yield round(receive_reduce(a.rank + bit, a.whole()));
  if (me != 0) {
    co_yield round(send(a.rank - bit, a.whole()));
    co_yield round(receive(a.rank - bit, a.whole()));
  }
  const Rank next = (node + 1) % nodes * local, previous = (node + nodes - 1) % nodes * local;
  for (int k = 0; me == 0 && k < nodes - 1; ++k)
    co_yield round(send(next, a.whole().chunk(nodes, node - k)),
                   receive_reduce(previous, a.whole().chunk(nodes, node - k - 1)));
  for (int k = 0; me == 0 && k < nodes - 1; ++k)
    co_yield round(send(next, a.whole().chunk(nodes, node + 1 - k)),
                   receive(previous, a.whole().chunk(nodes, node - k)));
  for (bit /= 2; bit > 0; bit /= 2)
    if (me + bit < here) co_yield round(send(a.rank + bit, a.whole()));
}

}  // namespace

Plan two_level_all_reduce(PlanArgs a) {
  const int local = std::clamp(a.ranks_per_node, 1, a.size);
  return a.size % local == 0 ? equal_nodes(a, local) : leaders(a, local);
}

}  // namespace pdsim
