// Pipelines over a binary tree whose nodes are numbered as in a heap.

#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace pdsim {
namespace {

constexpr int binary_tree_segments = 8;

// Ranks counted from the root; i has the children 2i + 1 and 2i + 2.
struct Heap {
  PlanArgs a;
  int me;
  explicit Heap(const PlanArgs& args) : a(args), me((a.rank - a.root + a.size) % a.size) {}
  Rank rank_of(int relative) const { return (relative + a.root) % a.size; }
  Rank parent() const { return rank_of((me - 1) / 2); }
  int children() const { return std::max(0, std::min(2, a.size - 1 - 2 * me)); }
  Rank child(int i) const { return rank_of(2 * me + 1 + i); }
  Slice segment(int s, BufferId buffer) const { return Slice{0, a.count, buffer}.chunk(binary_tree_segments, s); }
};

// Pipelined, in 8 segments
Plan binary_tree_broadcast(PlanArgs a) {
  const Heap tree(a);
  if (tree.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  std::vector<Step> steps;
  for (int s = 0; s <= binary_tree_segments; ++s) {
    steps.clear();
    const int passed = tree.me == 0 ? s : s - 1;
    if (tree.me != 0 && s < binary_tree_segments)
      steps.push_back(receive(tree.parent(), tree.segment(s, BufferId::output)));
    for (int i = 0; i < tree.children() && passed >= 0 && passed < binary_tree_segments; ++i)
      steps.push_back(send(tree.child(i), tree.segment(passed, BufferId::output)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

// Likewise
Plan binary_tree_reduce(PlanArgs a) {
  const Heap tree(a);
  const BufferId own = tree.me == 0 ? BufferId::output : BufferId::scratch;
  co_yield round(copy({0, a.count, own}, {0, a.count, BufferId::input}));
  std::vector<Step> steps;
  for (int s = 0; s <= binary_tree_segments; ++s) {
    steps.clear();
    const int passed = tree.children() == 0 ? s : s - 1;
    for (int i = 0; i < tree.children() && s < binary_tree_segments; ++i)
      steps.push_back(receive_reduce(tree.child(i), tree.segment(s, own)));
    if (tree.me != 0 && passed >= 0 && passed < binary_tree_segments)
      steps.push_back(send(tree.parent(), tree.segment(passed, own)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

PlanCost cost_of_binary_tree_down(const PlanArgs& a) {
  if (a.size == 1) return {};
  return {binary_tree_segments + (a.size > 3 ? 1 : 0), std::int64_t{binary_tree_segments} * (a.size - 1),
          std::min(2, a.size - 1) * a.count};
}

PlanCost cost_of_binary_tree_up(const PlanArgs& a) {
  PlanCost cost = cost_of_binary_tree_down(a);
  cost.elements_sent = a.size > 1 ? a.count : 0;
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows binary_tree() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "binary_tree",
                   .plan = binary_tree_broadcast,
                   .closed_form = cost_of_binary_tree_down,
                   .formula = "(f+S)(alpha + 2n/S beta), S = 8 segments"},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "binary_tree",
                   .plan = binary_tree_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_binary_tree_up,
                   .formula = "(f+S)(alpha + 2n/S (beta + gamma)), S = 8 segments"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
