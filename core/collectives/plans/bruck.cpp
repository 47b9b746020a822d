// Bruck's algorithms: distances 1, 2, 4 ... for any number of ranks, with blocks rotated locally.
//   source  Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications", 1997

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace pdsim {
namespace {

std::int64_t bruck_blocks(const PlanArgs& a) { return (a.size + 2 * ((a.size + 1) / 2)) * a.count; }

// k rounds for any p; blocks are rotated locally.
//   source  Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications", 1997
Plan bruck_all_gather(PlanArgs a) {
  const auto blocks = [&a](int first, int many, BufferId buffer) {
    return Slice{first * a.count, many * a.count, buffer};
  };
  co_yield round(copy(blocks(0, 1, BufferId::scratch), {0, a.count, BufferId::input}));
  for (int d = 1; d < a.size; d *= 2) {
    const int many = std::min(d, a.size - d);
    co_yield round(send((a.rank - d + a.size) % a.size, blocks(0, many, BufferId::scratch)),
                   receive((a.rank + d) % a.size, blocks(d, many, BufferId::scratch)));
  }
  const int tail = a.size - a.rank;
  co_yield round(copy(blocks(a.rank, tail, BufferId::output), blocks(0, tail, BufferId::scratch)),
                 copy(blocks(0, a.rank, BufferId::output), blocks(tail, a.rank, BufferId::scratch)));
}

// scratch: the p blocks, by how far they still have to go; then what is sent and what arrives, packed.
Plan bruck_all_to_all(PlanArgs a) {
  const int p = a.size, half = (p + 1) / 2;
  const auto block = [&a](int i, BufferId buffer) { return Slice{i * a.count, a.count, buffer}; };
  std::vector<Step> steps;
  for (int i = 0; i < p; ++i)
    steps.push_back(copy(block(i, BufferId::scratch), block((a.rank + i) % p, BufferId::input)));
  co_yield std::span<const Step>(steps);
  for (int d = 1; d < p; d *= 2) {
    steps.clear();
    int many = 0;
    for (int i = 0; i < p; ++i)
      if ((i & d) != 0) steps.push_back(copy(block(p + many++, BufferId::scratch), block(i, BufferId::scratch)));
    co_yield std::span<const Step>(steps);
    co_yield round(send((a.rank + d) % p, {p * a.count, many * a.count, BufferId::scratch}),
                   receive((a.rank - d + p) % p, {(p + half) * a.count, many * a.count, BufferId::scratch}));
    steps.clear();
    many = 0;
    for (int i = 0; i < p; ++i)
      if ((i & d) != 0) steps.push_back(copy(block(i, BufferId::scratch), block(p + half + many++, BufferId::scratch)));
    co_yield std::span<const Step>(steps);
  }
  steps.clear();
  for (int i = 0; i < p; ++i)
    steps.push_back(copy(block((a.rank - i + p) % p, BufferId::output), block(i, BufferId::scratch)));
  co_yield std::span<const Step>(steps);
}

PlanCost cost_of_bruck_gather(const PlanArgs& a) {
  return {counting::ceil_log2(a.size), std::int64_t{a.size} * counting::ceil_log2(a.size), (a.size - 1) * a.count};
}

PlanCost cost_of_bruck_exchange(const PlanArgs& a) {
  PlanCost cost{counting::ceil_log2(a.size), std::int64_t{a.size} * counting::ceil_log2(a.size), 0};
  for (int i = 1; i < a.size; ++i) cost.elements_sent += std::popcount(static_cast<unsigned>(i)) * a.count;
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows bruck() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_gather},
                   .name = "bruck",
                   .plan = bruck_all_gather,
                   .scratch = part_of_each_rank,
                   .closed_form = cost_of_bruck_gather,
                   .formula = "k alpha + (p-1) n beta, n of one rank"},
      AlgorithmRow{.kinds = {K::all_to_all},
                   .name = "bruck",
                   .plan = bruck_all_to_all,
                   .scratch = bruck_blocks,
                   .closed_form = cost_of_bruck_exchange,
                   .formula = "k alpha + about k p/2 n beta, n to each peer"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
