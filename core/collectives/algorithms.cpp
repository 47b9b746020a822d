#include "core/collectives/algorithms.h"

#include "core/collectives/plans.h"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace pdsim {
namespace {

using I = std::int64_t;

I none(const PlanArgs&) { return 0; }
I one_vector(const PlanArgs& a) { return a.count; }
I two_vectors(const PlanArgs& a) { return 2 * a.count; }
I all_blocks(const PlanArgs& a) { return a.input_part(a.size - 1).offset + a.input_part(a.size - 1).count; }

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
PlanCost direct_cost(int, I n) { return {1, 1, n}; }

using K = CollectiveKind;
constexpr std::array rows{
    Algorithm{K::all_reduce, "ring", ring_all_reduce, none, ring_all_reduce_cost,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma"},
    Algorithm{K::all_reduce, "recursive_doubling", recursive_doubling_all_reduce, none, doubling_cost,
              "k (alpha + n beta + n gamma); with a fold (f+2)(alpha + n beta) + (f+1) n gamma"},
    Algorithm{K::broadcast, "binomial", binomial_broadcast, none, tree_down_cost, "k (alpha + n beta)"},
    Algorithm{K::reduce, "binomial", binomial_reduce, one_vector, tree_up_cost, "k (alpha + n beta + n gamma)"},
    Algorithm{K::all_gather, "ring", ring_all_gather, none, ring_blocks_cost, "(p-1)(alpha + n beta), n of one rank"},
    Algorithm{K::gather, "linear", linear_gather, none, gather_cost, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::scatter, "linear", linear_scatter, none, scatter_cost, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::reduce_scatter, "ring", ring_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of one rank"},
    Algorithm{K::all_to_all, "pairwise", pairwise_all_to_all, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n to each peer"},
    Algorithm{K::barrier, "dissemination", dissemination_barrier, none, dissemination_cost, "k alpha"},
    Algorithm{K::all_gather_v, "ring", ring_all_gather, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::reduce_scatter_v, "ring", ring_reduce_scatter, all_blocks, ring_blocks_cost,
              "(p-1)(alpha + n beta + n gamma), n of the largest part"},
    Algorithm{K::all_to_all_v, "pairwise", pairwise_all_to_all, none, ring_blocks_cost,
              "(p-1)(alpha + n beta), n of the largest part"},
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
