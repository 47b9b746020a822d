#include "core/collectives/algorithms.h"

#include "core/collectives/plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace pdsim {
namespace {

using I = std::int64_t;

I none(const PlanArgs&) { return 0; }
I one_vector(const PlanArgs& a) { return a.count; }
I two_vectors(const PlanArgs& a) { return 2 * a.count; }
I all_blocks(const PlanArgs& a) { return a.input_part(a.size - 1).offset + a.input_part(a.size - 1).count; }

I size_blocks(const PlanArgs& a) { return a.size * a.count; }
I bruck_blocks(const PlanArgs& a) { return (a.size + 2 * ((a.size + 1) / 2)) * a.count; }

I ceil_log2(int p) { return std::bit_width(static_cast<unsigned>(p - 1)); }
I floor_log2(int p) { return std::bit_width(static_cast<unsigned>(p)) - 1; }

// Each rank sends every chunk but one in each half; the busiest leaves out the two shortest that its position allows.
I ring_elements(int p, I n) {
  I busiest = 0;
  for (int r = 0; r < p; ++r) {
    PlanArgs a{r, p, n, 0};
    busiest = std::max(busiest, 2 * n - a.chunk(r + 1).count - a.chunk(r + 2).count);
  }
  return busiest;
}

PlanCost ring_all_reduce_cost(int p, I n) {
  if (p == 1) return {};
  return {2 * (p - 1), I{2} * p * (p - 1), ring_elements(p, n)};
}
PlanCost doubling_cost(int p, I n) {
  const I f = floor_log2(p), q = I{1} << f, r = p - q;
  return {f + (r > 0 ? 2 : 0), q * f + 2 * r, (f + (r > 0 ? 1 : 0)) * n};
}
PlanCost tree_down_cost(int p, I n) { return {ceil_log2(p), p - 1, ceil_log2(p) * n}; }
PlanCost tree_up_cost(int p, I n) { return {ceil_log2(p), p - 1, p > 1 ? n : 0}; }
PlanCost dissemination_cost(int p, I) { return {ceil_log2(p), p * ceil_log2(p), 0}; }
PlanCost ring_blocks_cost(int p, I n) { return {p - 1, I{p} * (p - 1), (p - 1) * n}; }
PlanCost gather_cost(int p, I n) { return {p > 1 ? 1 : 0, p - 1, p > 1 ? n : 0}; }
PlanCost scatter_cost(int p, I n) { return {p > 1 ? 1 : 0, p - 1, (p - 1) * n}; }
PlanCost scan_chain_cost(int p, I n) { return {p < 3 ? p - 1 : 2, p - 1, p > 1 ? n : 0}; }
PlanCost scan_doubling_cost(int p, I n) {
  PlanCost cost{ceil_log2(p), 0, ceil_log2(p) * n};
  for (int d = 1; d < p; d *= 2) cost.messages += p - d;
  return cost;
}

I sent_in_chunks(int p, int me, int first, int many, I n) {
  PlanArgs a{me, p, n, 0};
  I sum = 0;
  for (int i = first; i < first + many; ++i) sum += a.chunk(i).count;
  return sum;
}
PlanCost rabenseifner_cost(int p, I n) {
  const int f = static_cast<int>(floor_log2(p)), q = 1 << f, r = p - q;
  PlanCost cost{2 * f + (r > 0 ? 2 : 0), I{2} * q * f + 2 * r, 0};
  for (int me = 0; me < q; ++me) {
    I sent = n - sent_in_chunks(q, me, me, 1, n) + (me < r ? n : 0);
    for (int mask = 1; mask < q; mask *= 2) sent += sent_in_chunks(q, me, me & ~(mask - 1), mask, n);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}
PlanCost bcube_cost(int p, I n) {
  PlanCost cost;
  for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f) {
    if (rest % f != 0) continue;
    cost.rounds += 2;
    cost.messages += I{2} * p * (f - 1);
  }
  for (int me = 0; me < p; ++me) {
    I sent = n - sent_in_chunks(p, me, me, 1, n);
    for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f)
      if (rest % f == 0) sent += (f - 1) * sent_in_chunks(p, me, me / (rest / f) * (rest / f), rest / f, n);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}
PlanCost reduce_broadcast_cost(int p, I n) { return {2 * ceil_log2(p), 2 * (p - 1), ceil_log2(p) * n}; }
PlanCost chain_cost(int p, I n) {
  if (p == 1) return {};
  return {chain_segments + (p > 2 ? 1 : 0), I{chain_segments} * (p - 1), n};
}
PlanCost scatter_ring_cost(int p, I n) {
  PlanCost cost{p > 1 ? ceil_log2(p) + p - 1 : 0, I{p} * (p - 1) + p - 1, 0};
  for (int me = 0; me < p; ++me) {
    const int below = me == 0 ? p : std::min(me & -me, p - me);
    const I scattered = sent_in_chunks(p, me, me + 1, below - 1, n);
    cost.elements_sent = std::max(cost.elements_sent, scattered + n - sent_in_chunks(p, me, me + 1, 1, n));
  }
  return cost;
}
PlanCost ring_gather_cost(int p, I n) { return {p > 1 ? p : 0, I{p} * (p - 1) + p - 1, p > 1 ? n : 0}; }
PlanCost binomial_gather_cost(int p, I n) {
  PlanCost cost{ceil_log2(p), p - 1, 0};
  for (int me = 1; me < p; ++me) cost.elements_sent = std::max(cost.elements_sent, std::min(me & -me, p - me) * n);
  return cost;
}
PlanCost binomial_scatter_cost(int p, I n) { return {ceil_log2(p), p - 1, (p - 1) * n}; }
PlanCost bruck_gather_cost(int p, I n) { return {ceil_log2(p), p * ceil_log2(p), (p - 1) * n}; }
PlanCost bruck_exchange_cost(int p, I n) {
  PlanCost cost{ceil_log2(p), p * ceil_log2(p), 0};
  for (int i = 1; i < p; ++i) cost.elements_sent += std::popcount(static_cast<unsigned>(i)) * n;
  return cost;
}
PlanCost one_round_cost(int p, I n) { return {p > 1 ? 1 : 0, I{p} * (p - 1), (p - 1) * n}; }
PlanCost linear_barrier_cost(int p, I) { return {p > 1 ? 2 : 0, 2 * (p - 1), 0}; }
PlanCost double_ring_cost(int p, I) { return {p > 1 ? 4 : 0, p > 1 ? 2 * p : 0, 0}; }
PlanCost doubling_barrier_cost(int p, I) { return doubling_cost(p, 0); }
PlanCost direct_cost(int, I n) { return {1, 1, n}; }

using K = CollectiveKind;
constexpr std::array rows{
    Algorithm{K::all_reduce, "ring", ring_all_reduce, none, ring_all_reduce_cost,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma"},
    Algorithm{K::all_reduce, "recursive_doubling", recursive_doubling_all_reduce, none, doubling_cost,
              "k (alpha + n beta + n gamma); with a fold (f+2)(alpha + n beta) + (f+1) n gamma"},
    Algorithm{K::all_reduce, "rabenseifner", rabenseifner_all_reduce, none, rabenseifner_cost,
              "2 log2(q) alpha + 2n(q-1)/q beta + n(q-1)/q gamma; a fold adds 2(alpha + n beta) + n gamma"},
    Algorithm{K::all_reduce, "bcube", bcube_all_reduce, none, bcube_cost,
              "2 sum(f-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, over the prime factors f of p"},
    Algorithm{K::all_reduce, "reduce_broadcast", reduce_broadcast_all_reduce, none, reduce_broadcast_cost,
              "2k (alpha + n beta) + k n gamma"},
    Algorithm{K::broadcast, "binomial", binomial_broadcast, none, tree_down_cost, "k (alpha + n beta)"},
    Algorithm{K::broadcast, "linear", linear_broadcast, none, scatter_cost, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::broadcast, "chain", chain_broadcast, none, chain_cost, "(p-2+S)(alpha + n/S beta), S = 8 segments"},
    Algorithm{K::broadcast, "scatter_ring", scatter_ring_broadcast, none, scatter_ring_cost,
              "(k+p-1) alpha + 2n(p-1)/p beta"},
    Algorithm{K::reduce, "binomial", binomial_reduce, one_vector, tree_up_cost, "k (alpha + n beta + n gamma)"},
    Algorithm{K::reduce, "linear", linear_reduce, one_vector, gather_cost,
              "(p-1)(alpha + n beta + n gamma) at the root's port"},
    Algorithm{K::reduce, "chain", chain_reduce, one_vector, chain_cost,
              "(p-2+S)(alpha + n/S (beta + gamma)), S = 8 segments"},
    Algorithm{K::reduce, "ring_gather", ring_gather_reduce, one_vector, ring_gather_cost,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma"},
    Algorithm{K::all_gather, "ring", ring_all_gather, none, ring_blocks_cost, "(p-1)(alpha + n beta), n of one rank"},
    Algorithm{K::all_gather, "bruck", bruck_all_gather, size_blocks, bruck_gather_cost,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::all_gather, "linear", linear_all_gather, none, one_round_cost,
              "(p-1)(alpha + n beta) at every port, n of one rank"},
    Algorithm{K::gather, "linear", linear_gather, none, gather_cost, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::gather, "binomial", binomial_gather, size_blocks, binomial_gather_cost,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::scatter, "linear", linear_scatter, none, scatter_cost, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::scatter, "binomial", binomial_scatter, size_blocks, binomial_scatter_cost,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::reduce_scatter, "ring", ring_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of one rank"},
    Algorithm{K::reduce_scatter, "pairwise", pairwise_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of one rank"},
    Algorithm{K::all_to_all, "pairwise", pairwise_all_to_all, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n to each peer"},
    Algorithm{K::all_to_all, "linear", linear_all_to_all, none, one_round_cost, "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::all_to_all, "bruck", bruck_all_to_all, bruck_blocks, bruck_exchange_cost,
              "k alpha + about k p/2 n beta, n to each peer"},
    Algorithm{K::barrier, "dissemination", dissemination_barrier, none, dissemination_cost, "k alpha"},
    Algorithm{K::barrier, "recursive_doubling", recursive_doubling_barrier, none, doubling_barrier_cost,
              "k alpha; with a fold (f+2) alpha"},
    Algorithm{K::barrier, "linear", linear_barrier, none, linear_barrier_cost, "2(p-1) alpha"},
    Algorithm{K::barrier, "double_ring", double_ring_barrier, none, double_ring_cost, "2p alpha"},
    Algorithm{K::all_gather_v, "ring", ring_all_gather, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::all_gather_v, "linear", linear_all_gather, none, one_round_cost,
              "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::reduce_scatter_v, "ring", ring_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of the largest part"},
    Algorithm{K::reduce_scatter_v, "pairwise", pairwise_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of the largest part"},
    Algorithm{K::all_to_all_v, "pairwise", pairwise_all_to_all, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::all_to_all_v, "linear", linear_all_to_all, none, one_round_cost,
              "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::scan, "recursive_doubling", doubling_scan, none, scan_doubling_cost, "k (alpha + n beta + n gamma)"},
    Algorithm{K::scan, "linear", linear_scan, none, scan_chain_cost, "(p-1)(alpha + n beta + n gamma)"},
    Algorithm{K::exscan, "recursive_doubling", doubling_exscan, two_vectors, scan_doubling_cost,
              "k (alpha + n beta + 2n gamma)"},
    Algorithm{K::exscan, "linear", linear_exscan, one_vector, scan_chain_cost, "(p-1)(alpha + n beta + n gamma)"},
    Algorithm{K::send, "direct", direct_send, none, direct_cost, "alpha + n beta"},
    Algorithm{K::recv, "direct", direct_receive, none, direct_cost, "alpha + n beta"},
};

}  // namespace

std::span<const Algorithm> algorithms() { return rows; }

Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name) {
  std::string known;
  for (const Algorithm& row : rows) {
    if (row.kind != kind) continue;
    if (name == row.name || name == "auto" || name == "native") return &row;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  return Error{Code::unsupported,
               fmt::format("{} has no algorithm `{}`; there is {}", name_of(kind), name, known),
               {{"algorithm", std::string(name)}, {"collective", std::string(name_of(kind))}}};
}

}  // namespace pdsim
