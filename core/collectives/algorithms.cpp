#include "core/collectives/algorithms.h"

#include "core/collectives/plan_costs.h"
#include "core/collectives/plans.h"
#include "core/collectives/tuning.h"

#include <fmt/format.h>

#include <array>

namespace pdsim {
namespace {

using I = std::int64_t;

constexpr std::int64_t (*none)(const PlanArgs&) = nullptr;
I one_vector(const PlanArgs& a) { return a.count; }
I two_vectors(const PlanArgs& a) { return 2 * a.count; }
I all_blocks(const PlanArgs& a) { return a.input_part(a.size - 1).offset + a.input_part(a.size - 1).count; }

I radix_vectors(const PlanArgs& a) { return knomial_radix * a.count; }
I size_blocks(const PlanArgs& a) { return a.size * a.count; }
I bruck_blocks(const PlanArgs& a) { return (a.size + 2 * ((a.size + 1) / 2)) * a.count; }

using K = CollectiveKind;
constexpr std::array rows{
    Algorithm{K::all_reduce, "ring", ring_all_reduce, none, costs::ring,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma"},
    Algorithm{K::all_reduce, "recursive_doubling", recursive_doubling_all_reduce, none, costs::doubling,
              "k (alpha + n beta + n gamma); with a fold (f+2)(alpha + n beta) + (f+1) n gamma"},
    Algorithm{K::all_reduce, "rabenseifner", rabenseifner_all_reduce, none, costs::rabenseifner,
              "2 log2(q) alpha + 2n(q-1)/q beta + n(q-1)/q gamma; a fold adds 2(alpha + n beta) + n gamma"},
    Algorithm{K::all_reduce, "bcube", bcube_all_reduce, none, costs::bcube,
              "2 sum(f-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, over the prime factors f of p"},
    Algorithm{K::all_reduce, "reduce_broadcast", reduce_broadcast_all_reduce, none, costs::reduce_broadcast,
              "2k (alpha + n beta) + k n gamma"},
    Algorithm{K::all_reduce, "segmented_ring", segmented_ring_all_reduce, none, costs::segmented_ring,
              "2(p-1)S alpha + 2n(p-1)/p beta + n(p-1)/p gamma, S = 2 segments of a chunk"},
    Algorithm{K::all_reduce, "gloo_ring", gloo_ring_all_reduce, none, costs::gloo_ring,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, in Gloo's chunks and order"},
    Algorithm{K::all_reduce, "double_tree", double_tree_all_reduce, none, costs::double_tree,
              "(2k+S)(alpha + n/S (3/2 beta + gamma)) at most, S = 8 segments"},
    Algorithm{
        K::all_reduce, "two_level", two_level_all_reduce, none, costs::two_level,
        "2(g-1) alpha_in + 2n(g-1)/g beta_in + 2(N-1) alpha_out + 2n(N-1)/(gN) beta_out, g ranks on each of N nodes"},
    Algorithm{K::all_reduce, "knomial", knomial_all_reduce, radix_vectors, costs::knomial,
              "log4(p) (3 alpha + 3n beta + 3n gamma) at one port; extra ranks add 2(alpha + n beta) + n gamma"},
    Algorithm{K::broadcast, "binomial", binomial_broadcast, none, costs::tree_down, "k (alpha + n beta)"},
    Algorithm{K::broadcast, "linear", linear_broadcast, none, costs::from_root,
              "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::broadcast, "chain", chain_broadcast, none, costs::chain, "(p-2+S)(alpha + n/S beta), S = 8 segments"},
    Algorithm{K::broadcast, "scatter_ring", scatter_ring_broadcast, none, costs::scatter_ring,
              "(k+p-1) alpha + 2n(p-1)/p beta"},
    Algorithm{K::broadcast, "scatter_doubling", scatter_doubling_broadcast, none, costs::scatter_doubling,
              "2f alpha + 2n(q-1)/q beta; other ranks add alpha + n beta"},
    Algorithm{K::broadcast, "binary_tree", binary_tree_broadcast, none, costs::binary_tree_down,
              "(f+S)(alpha + 2n/S beta), S = 8 segments"},
    Algorithm{K::broadcast, "knomial", knomial_broadcast, none, costs::knomial_down,
              "ceil(log4 p) (alpha + 3n beta) at one port"},
    Algorithm{K::broadcast, "gloo_tree", gloo_tree_broadcast, none, costs::gloo_tree,
              "k (alpha + n beta) at most, as Gloo: a rank sends to all its children at once"},
    Algorithm{K::reduce, "binomial", binomial_reduce, one_vector, costs::tree_up, "k (alpha + n beta + n gamma)"},
    Algorithm{K::reduce, "linear", linear_reduce, one_vector, costs::to_root,
              "(p-1)(alpha + n beta + n gamma) at the root's port"},
    Algorithm{K::reduce, "chain", chain_reduce, one_vector, costs::chain,
              "(p-2+S)(alpha + n/S (beta + gamma)), S = 8 segments"},
    Algorithm{K::reduce, "ring_gather", ring_gather_reduce, one_vector, costs::ring_gather,
              "2(p-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma"},
    Algorithm{K::reduce, "rabenseifner", rabenseifner_reduce, one_vector, costs::halving_gather,
              "2f alpha + 2n(q-1)/q beta + n(q-1)/q gamma; other ranks add alpha + n beta + n gamma"},
    Algorithm{K::reduce, "binary_tree", binary_tree_reduce, one_vector, costs::binary_tree_up,
              "(f+S)(alpha + 2n/S (beta + gamma)), S = 8 segments"},
    Algorithm{K::all_gather, "ring", ring_all_gather, none, costs::ring_blocks, "(p-1)(alpha + n beta), n of one rank"},
    Algorithm{K::all_gather, "bruck", bruck_all_gather, size_blocks, costs::bruck_gather,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::all_gather, "linear", linear_all_gather, none, costs::one_round,
              "(p-1)(alpha + n beta) at every port, n of one rank"},
    Algorithm{K::all_gather, "recursive_doubling", recursive_doubling_all_gather, none, costs::doubling_blocks,
              "k alpha + (p-1) n beta, n of one rank; a fold adds 2 alpha + (p+1) n beta"},
    Algorithm{K::all_gather, "neighbour_exchange", neighbour_exchange_all_gather, none, costs::neighbour_blocks,
              "p/2 alpha + (p-1) n beta, n of one rank; as the ring where p is odd"},
    Algorithm{K::gather, "linear", linear_gather, none, costs::to_root, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::gather, "binomial", binomial_gather, size_blocks, costs::binomial_gather,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::scatter, "linear", linear_scatter, none, costs::from_root, "(p-1)(alpha + n beta) at the root's port"},
    Algorithm{K::scatter, "binomial", binomial_scatter, size_blocks, costs::binomial_scatter,
              "k alpha + (p-1) n beta, n of one rank"},
    Algorithm{K::reduce_scatter, "ring", ring_reduce_scatter, all_blocks, costs::ring_blocks,
              "(p-1)(alpha + n beta + n gamma), n of one rank"},
    Algorithm{K::reduce_scatter, "pairwise", pairwise_reduce_scatter, all_blocks, costs::ring_blocks,
              "(p-1)(alpha + n beta + n gamma), n of one rank"},
    Algorithm{K::reduce_scatter, "recursive_halving", recursive_halving_reduce_scatter, all_blocks,
              costs::halving_blocks,
              "k alpha + (p-1) n (beta + gamma), n of one rank; a fold adds 2 alpha + (p+1) n beta + p n gamma"},
    Algorithm{K::all_to_all, "pairwise", pairwise_all_to_all, none, costs::ring_blocks,
              "(p-1)(alpha + n beta), n to each peer"},
    Algorithm{K::all_to_all, "linear", linear_all_to_all, none, costs::one_round,
              "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::all_to_all, "bruck", bruck_all_to_all, bruck_blocks, costs::bruck_exchange,
              "k alpha + about k p/2 n beta, n to each peer"},
    Algorithm{K::all_to_all, "pairwise_xor", pairwise_xor_all_to_all, none, costs::ring_blocks,
              "(p-1)(alpha + n beta), n to each peer"},
    Algorithm{K::barrier, "dissemination", dissemination_barrier, none, costs::dissemination, "k alpha"},
    Algorithm{K::barrier, "recursive_doubling", recursive_doubling_barrier, none, costs::doubling_barrier,
              "k alpha; with a fold (f+2) alpha"},
    Algorithm{K::barrier, "linear", linear_barrier, none, costs::linear_barrier, "2(p-1) alpha"},
    Algorithm{K::barrier, "double_ring", double_ring_barrier, none, costs::double_ring, "2p alpha"},
    Algorithm{K::barrier, "tree", tree_barrier, none, costs::tree_barrier, "2k alpha"},
    Algorithm{K::all_gather_v, "ring", ring_all_gather, none, costs::ring_blocks,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::all_gather_v, "linear", linear_all_gather, none, costs::one_round,
              "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::all_gather_v, "recursive_doubling", recursive_doubling_all_gather, none, costs::doubling_blocks,
              "k alpha + (p-1) n beta, n of the largest part; a fold adds 2 alpha + (p+1) n beta"},
    Algorithm{K::all_gather_v, "neighbour_exchange", neighbour_exchange_all_gather, none, costs::neighbour_blocks,
              "p/2 alpha + (p-1) n beta, n of the largest part; as the ring where p is odd"},
    Algorithm{K::reduce_scatter_v, "ring", ring_reduce_scatter, all_blocks, costs::ring_blocks,
              "(p-1)(alpha + n beta + n gamma), n of the largest part"},
    Algorithm{K::reduce_scatter_v, "pairwise", pairwise_reduce_scatter, all_blocks, costs::ring_blocks,
              "(p-1)(alpha + n beta + n gamma), n of the largest part"},
    Algorithm{
        K::reduce_scatter_v, "recursive_halving", recursive_halving_reduce_scatter, all_blocks, costs::halving_blocks,
        "k alpha + (p-1) n (beta + gamma), n of the largest part; a fold adds 2 alpha + (p+1) n beta + p n gamma"},
    Algorithm{K::all_to_all_v, "pairwise", pairwise_all_to_all, none, costs::ring_blocks,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::all_to_all_v, "linear", linear_all_to_all, none, costs::one_round,
              "(p-1)(alpha + n beta) at every port"},
    Algorithm{K::all_to_all_v, "pairwise_xor", pairwise_xor_all_to_all, none, costs::ring_blocks,
              "(p-1)(alpha + n beta), n of the largest part"},
    Algorithm{K::scan, "recursive_doubling", doubling_scan, none, costs::scan_doubling, "k (alpha + n beta + n gamma)"},
    Algorithm{K::scan, "linear", linear_scan, none, costs::scan_chain, "(p-1)(alpha + n beta + n gamma)"},
    Algorithm{K::exscan, "recursive_doubling", doubling_exscan, two_vectors, costs::scan_doubling,
              "k (alpha + n beta + 2n gamma)"},
    Algorithm{K::exscan, "linear", linear_exscan, one_vector, costs::scan_chain, "(p-1)(alpha + n beta + n gamma)"},
    Algorithm{K::send, "direct", direct_send, none, costs::direct, "alpha + n beta"},
    Algorithm{K::recv, "direct", direct_receive, none, costs::direct, "alpha + n beta"},
};

}  // namespace

std::span<const Algorithm> algorithms() { return rows; }

namespace {

Error no_algorithm(CollectiveKind kind, std::string_view name) {
  std::string known;
  for (const Algorithm& row : rows)
    if (row.kind == kind) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  return Error{Code::unsupported,
               fmt::format("{} has no algorithm `{}`; there is {}", name_of(kind), name, known),
               {{"algorithm", std::string(name)}, {"collective", std::string(name_of(kind))}}};
}

}  // namespace

Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& row : rows)
    if (row.kind == kind && (name == row.name || name == "auto" || name == "native")) return &row;
  for (const Tuning& tuning : tunings())
    if (name == tuning.algorithm) return find_algorithm(kind, "auto");
  return no_algorithm(kind, name);
}

}  // namespace pdsim
