#include "core/collectives/plans.h"

#include <algorithm>
#include <vector>

namespace pdsim {
namespace {

// Ranks relative to the root; blocks of `count` elements in scratch, the own one first.
struct Tree {
  PlanArgs a;
  int me;
  explicit Tree(const PlanArgs& args) : a(args), me((a.rank - a.root + a.size) % a.size) {}
  Rank back(int relative) const { return (relative + a.root) % a.size; }
  Slice blocks(int first, int many) const { return {first * a.count, many * a.count, BufferId::scratch}; }
  int parent_bit() const {
    int bit = 1;
    while (bit < a.size && (me & bit) == 0) bit <<= 1;
    return bit;
  }
  // How many relative ranks the subtree below `child` holds, when its parent is `bit` away.
  int below(int child, int bit) const { return std::min(bit, a.size - child); }
};

Slice segment(const PlanArgs& a, int i, BufferId buffer) { return Slice{0, a.count, buffer}.chunk(chain_segments, i); }

}  // namespace

Plan linear_broadcast(PlanArgs a) {
  if (a.rank != a.root) {
    co_yield round(receive(a.root, a.whole()));
    co_return;
  }
  std::vector<Step> steps{copy(a.whole(), {0, a.count, BufferId::input})};
  for (Rank r = 0; r < a.size; ++r)
    if (r != a.root) steps.push_back(send(r, {0, a.count, BufferId::input}));
  co_yield std::span<const Step>(steps);
}

Plan chain_broadcast(PlanArgs a) {
  const Tree chain(a);
  if (chain.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  std::vector<Step> steps;
  const bool receives = chain.me > 0, sends = chain.me < a.size - 1;
  for (int s = 0; s <= chain_segments; ++s) {
    steps.clear();
    const int sent = receives ? s - 1 : s;
    if (receives && s < chain_segments)
      steps.push_back(receive(chain.back(chain.me - 1), segment(a, s, BufferId::output)));
    if (sends && sent >= 0 && sent < chain_segments)
      steps.push_back(send(chain.back(chain.me + 1), segment(a, sent, BufferId::output)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

Plan scatter_ring_broadcast(PlanArgs a) {
  const Tree tree(a);
  if (tree.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  const auto range = [&a](int first, int many) {
    const Slice last = a.chunk(first + many - 1);
    return Slice{a.chunk(first).offset, last.offset + last.count - a.chunk(first).offset, BufferId::output};
  };
  int bit = tree.parent_bit();
  if (tree.me != 0) co_yield round(receive(tree.back(tree.me - bit), range(tree.me, tree.below(tree.me, bit))));
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(send(tree.back(child), range(child, tree.below(child, bit))));
  const Rank next = (a.rank + 1) % a.size, previous = (a.rank + a.size - 1) % a.size;
  for (int k = 0; k < a.size - 1; ++k)
    co_yield round(send(next, a.chunk(tree.me - k)), receive(previous, a.chunk(tree.me - k - 1)));
}

Plan linear_reduce(PlanArgs a) {
  if (a.rank != a.root) {
    co_yield round(copy({0, a.count, BufferId::scratch}, {0, a.count, BufferId::input}));
    co_yield round(send(a.root, {0, a.count, BufferId::scratch}));
    co_return;
  }
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  std::vector<Step> steps;
  for (Rank r = 0; r < a.size; ++r)
    if (r != a.root) steps.push_back(receive_reduce(r, a.whole()));
  co_yield std::span<const Step>(steps);
}

Plan chain_reduce(PlanArgs a) {
  const Tree chain(a);
  const BufferId own = chain.me == 0 ? BufferId::output : BufferId::scratch;
  co_yield round(copy({0, a.count, own}, {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  std::vector<Step> steps;
  const bool receives = chain.me<a.size - 1, sends = chain.me> 0;
  for (int s = 0; s <= chain_segments; ++s) {
    steps.clear();
    const int sent = receives ? s - 1 : s;
    if (receives && s < chain_segments) steps.push_back(receive_reduce(chain.back(chain.me + 1), segment(a, s, own)));
    if (sends && sent >= 0 && sent < chain_segments)
      steps.push_back(send(chain.back(chain.me - 1), segment(a, sent, own)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

Plan binomial_scatter(PlanArgs a) {
  const Tree tree(a);
  int bit = tree.parent_bit();
  if (tree.me == 0) {
    const std::int64_t first = a.root * a.count, tail = a.size * a.count - first;
    co_yield round(copy({0, tail, BufferId::scratch}, {first, tail, BufferId::input}),
                   copy({tail, first, BufferId::scratch}, {0, first, BufferId::input}));
  } else {
    co_yield round(receive(tree.back(tree.me - bit), tree.blocks(0, tree.below(tree.me, bit))));
  }
  for (bit >>= 1; bit > 0; bit >>= 1)
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(send(tree.back(child), tree.blocks(bit, tree.below(child, bit))));
  co_yield round(copy(a.whole(), tree.blocks(0, 1)));
}

Plan binomial_gather(PlanArgs a) {
  const Tree tree(a);
  co_yield round(copy(tree.blocks(0, 1), {0, a.count, BufferId::input}));
  for (int bit = 1; bit < a.size; bit <<= 1) {
    if ((tree.me & bit) != 0) {
      co_yield round(send(tree.back(tree.me - bit), tree.blocks(0, tree.below(tree.me, bit))));
      co_return;
    }
    if (const int child = tree.me + bit; child < a.size)
      co_yield round(receive(tree.back(child), tree.blocks(bit, tree.below(child, bit))));
  }
  const std::int64_t first = a.root * a.count, tail = a.size * a.count - first;
  co_yield round(copy({first, tail, BufferId::output}, {0, tail, BufferId::scratch}),
                 copy({0, first, BufferId::output}, {tail, first, BufferId::scratch}));
}

}  // namespace pdsim
