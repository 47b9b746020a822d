#include "core/collectives/tuning/selection_tables.h"

namespace pdsim {
namespace {

using K = CollectiveKind;
using When = SelectionRule::When;
constexpr std::int64_t KiB = 1024;

constexpr SelectionRule mpich[] = {
    {K::all_reduce, any_ranks, any_size, "two_level", When::uniform_nodes},
    {K::all_reduce, any_ranks, 2 * KiB + 1, "recursive_doubling"},
    {K::all_reduce, any_ranks, any_size, "recursive_doubling", When::fewer_than_power},
    {K::all_reduce, any_ranks, any_size, "rabenseifner"},
    {K::broadcast, 9, any_size, "binomial"},
    {K::broadcast, any_ranks, 12 * KiB, "binomial"},
    {K::broadcast, any_ranks, 512 * KiB, "scatter_doubling", When::power_of_two},
    {K::broadcast, any_ranks, any_size, "scatter_ring"},
    {K::reduce, any_ranks, 2 * KiB, "binomial"},
    {K::reduce, any_ranks, any_size, "binomial", When::fewer_than_power},
    {K::reduce, any_ranks, any_size, "rabenseifner"},
    {K::all_gather, any_ranks, 512 * KiB, "recursive_doubling", When::power_of_two, true},
    {K::all_gather, any_ranks, 80 * KiB + 1, "bruck", When::always, true},
    {K::all_gather, any_ranks, any_size, "ring"},
    {K::all_gather_v, any_ranks, 512 * KiB, "recursive_doubling", When::power_of_two, true},
    {K::all_gather_v, any_ranks, any_size, "ring"},
    {K::gather, any_ranks, any_size, "binomial"},
    {K::scatter, any_ranks, any_size, "binomial"},
    {K::reduce_scatter, any_ranks, 512 * KiB + 1, "recursive_halving", When::always, true},
    {K::reduce_scatter, any_ranks, any_size, "pairwise"},
    {K::reduce_scatter_v, any_ranks, 512 * KiB + 1, "recursive_halving", When::always, true},
    {K::reduce_scatter_v, any_ranks, any_size, "pairwise"},
    {K::all_to_all, 8, 32 * KiB, "linear"},
    {K::all_to_all, any_ranks, 256, "bruck"},
    {K::all_to_all, any_ranks, 32 * KiB, "linear"},
    {K::all_to_all, any_ranks, any_size, "pairwise_xor"},
    {K::all_to_all_v, any_ranks, any_size, "linear"},
    {K::barrier, any_ranks, any_size, "dissemination"},
    {K::scan, any_ranks, any_size, "recursive_doubling"},
    {K::exscan, any_ranks, any_size, "recursive_doubling"},
};

// Rings but for all_reduce; broadcast and reduce are rings passed once, which is a chain. What NCCL makes of grouped sends
// and receives goes out at once. Its users' barrier is an all_reduce of one element.
constexpr SelectionRule nccl[] = {
    {K::all_reduce, any_ranks, any_size, "", When::by_model},
    {K::broadcast, any_ranks, any_size, "chain"},
    {K::reduce, any_ranks, any_size, "chain"},
    {K::all_gather, any_ranks, any_size, "ring"},
    {K::all_gather_v, any_ranks, any_size, "linear"},
    {K::reduce_scatter, any_ranks, any_size, "ring"},
    {K::reduce_scatter_v, any_ranks, any_size, "ring"},
    {K::gather, any_ranks, any_size, "linear"},
    {K::scatter, any_ranks, any_size, "linear"},
    {K::all_to_all, any_ranks, any_size, "linear"},
    {K::all_to_all_v, any_ranks, any_size, "linear"},
    {K::barrier, any_ranks, any_size, "tree"},
};

constexpr SelectionRule gloo[] = {
    {K::all_reduce, any_ranks, any_size, "gloo_ring"},  {K::broadcast, any_ranks, any_size, "gloo_tree"},
    {K::reduce, any_ranks, any_size, "ring_gather"},    {K::all_gather, any_ranks, any_size, "ring"},
    {K::all_gather_v, any_ranks, any_size, "ring"},     {K::gather, any_ranks, any_size, "linear"},
    {K::scatter, any_ranks, any_size, "linear"},        {K::reduce_scatter, any_ranks, any_size, "recursive_halving"},
    {K::all_to_all, any_ranks, any_size, "linear"},     {K::all_to_all_v, any_ranks, any_size, "linear"},
    {K::barrier, any_ranks, any_size, "dissemination"},
};

}  // namespace

std::span<const SelectionRule> mpich_rules() { return mpich; }
std::span<const SelectionRule> nccl_rules() { return nccl; }
std::span<const SelectionRule> gloo_rules() { return gloo; }

}  // namespace pdsim
