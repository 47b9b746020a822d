// Algorithms that know which ranks share a node.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
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

// Reduce-scatter on the node, all-reduce of each chunk across the nodes, all-gather on the node; rings all.
//   nodes   of different size: their first ranks lead, a tree to and from them, a ring among them
//   source  MVAPICH's two-level and Horovod's hierarchical all-reduce
Plan two_level_all_reduce(PlanArgs a) {
  const int local = std::clamp(a.ranks_per_node, 1, a.size);
  return a.size % local == 0 ? equal_nodes(a, local) : leaders(a, local);
}

PlanCost cost_of_two_level(const PlanArgs& a) {
  const int local = std::clamp(a.ranks_per_node, 1, a.size), nodes = (a.size + local - 1) / local;
  if (a.size % local != 0) {
    PlanCost cost{2 * counting::ceil_log2(local) + 2 * (nodes - 1),
                  2 * (a.size - nodes) + std::int64_t{2} * nodes * (nodes - 1), 0};
    for (int node = 0; node < nodes; ++node) {
      const int here = std::min(local, a.size - node * local);
      cost.elements_sent = std::max(cost.elements_sent,
                                    counting::ceil_log2(here) * a.count + counting::around_ring(nodes, node, a.count));
    }
    return cost;
  }
  PlanCost cost{2 * (local - 1) + 2 * (nodes - 1), 0, 0};
  cost.messages = cost.rounds * a.size;
  for (int me = 0; me < local; ++me) {
    const std::int64_t own = counting::chunks(local, (me + 1) % local, 1, a.count);
    const std::int64_t inside = local == 1 ? 0 : counting::around_ring(local, me, a.count);
    cost.elements_sent = std::max(cost.elements_sent, inside + counting::busiest_of_ring(nodes, own));
  }
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows two_level() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "two_level",
                   .plan = two_level_all_reduce,
                   .closed_form = cost_of_two_level,
                   .formula = "2(g-1) alpha_in + 2n(g-1)/g beta_in + 2(N-1) alpha_out + 2n(N-1)/(gN) beta_out, g ranks "
                              "on each of N nodes"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
