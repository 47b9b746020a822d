#include "core/collectives/plans.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace pdsim {
namespace {

// Ranks counted from the root; i has the children 2i + 1 and 2i + 2.
struct Heap {
  PlanArgs a;
  int me;
  explicit Heap(const PlanArgs& args) : a(args), me((a.rank - a.root + a.size) % a.size) {}
  Rank rank_of(int relative) const { return (relative + a.root) % a.size; }
  Rank parent() const { return rank_of((me - 1) / 2); }
  int children() const { return std::max(0, std::min(2, a.size - 1 - 2 * me)); }
  Rank child(int i) const { return rank_of(2 * me + 1 + i); }
  static int depth_of(int relative) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(relative + 1))) - 1;
  }
  Slice segment(int s, BufferId buffer) const { return Slice{0, a.count, buffer}.chunk(tree_segments, s); }
};

}  // namespace

Plan binary_tree_broadcast(PlanArgs a) {
  const Heap tree(a);
  if (tree.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  std::vector<Step> steps;
  for (int s = 0; s <= tree_segments; ++s) {
    steps.clear();
    const int passed = tree.me == 0 ? s : s - 1;
    if (tree.me != 0 && s < tree_segments) steps.push_back(receive(tree.parent(), tree.segment(s, BufferId::output)));
    for (int i = 0; i < tree.children() && passed >= 0 && passed < tree_segments; ++i)
      steps.push_back(send(tree.child(i), tree.segment(passed, BufferId::output)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

Plan binary_tree_reduce(PlanArgs a) {
  const Heap tree(a);
  const BufferId own = tree.me == 0 ? BufferId::output : BufferId::scratch;
  co_yield round(copy({0, a.count, own}, {0, a.count, BufferId::input}));
  std::vector<Step> steps;
  for (int s = 0; s <= tree_segments; ++s) {
    steps.clear();
    const int passed = tree.children() == 0 ? s : s - 1;
    for (int i = 0; i < tree.children() && s < tree_segments; ++i)
      steps.push_back(receive_reduce(tree.child(i), tree.segment(s, own)));
    if (tree.me != 0 && passed >= 0 && passed < tree_segments)
      steps.push_back(send(tree.parent(), tree.segment(passed, own)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

Plan tree_barrier(PlanArgs a) {
  a.count = 0;
  return reduce_broadcast_all_reduce(a);
}

}  // namespace pdsim
