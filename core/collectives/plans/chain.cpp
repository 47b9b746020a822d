// Pipelines along a chain of all ranks, counted from the root.

#include "core/collectives/plans/family.h"

#include <array>
#include <vector>

namespace pdsim {
namespace {

constexpr int chain_segments = 8;

struct Chain {
  PlanArgs a;
  int me;
  explicit Chain(const PlanArgs& args) : a(args), me((a.rank - a.root + a.size) % a.size) {}
  Rank back(int relative) const { return (relative + a.root) % a.size; }
};

Slice chain_segment(const PlanArgs& a, int i, BufferId buffer) {
  return Slice{0, a.count, buffer}.chunk(chain_segments, i);
}

// Pipelined; passes segment s while receiving s + 1
Plan chain_broadcast(PlanArgs a) {
  const Chain chain(a);
  if (chain.me == 0) co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  std::vector<Step> steps;
  const bool receives = chain.me > 0, sends = chain.me < a.size - 1;
  for (int s = 0; s <= chain_segments; ++s) {
    steps.clear();
    const int sent = receives ? s - 1 : s;
    if (receives && s < chain_segments)
      steps.push_back(receive(chain.back(chain.me - 1), chain_segment(a, s, BufferId::output)));
    if (sends && sent >= 0 && sent < chain_segments)
      steps.push_back(send(chain.back(chain.me + 1), chain_segment(a, sent, BufferId::output)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

// Pipelined; order: each rank adds the sum of those farther from the root
Plan chain_reduce(PlanArgs a) {
  const Chain chain(a);
  const BufferId own = chain.me == 0 ? BufferId::output : BufferId::scratch;
  co_yield round(copy({0, a.count, own}, {0, a.count, BufferId::input}));
  if (a.size == 1) co_return;
  std::vector<Step> steps;
  const bool receives = chain.me<a.size - 1, sends = chain.me> 0;
  for (int s = 0; s <= chain_segments; ++s) {
    steps.clear();
    const int sent = receives ? s - 1 : s;
    if (receives && s < chain_segments)
      steps.push_back(receive_reduce(chain.back(chain.me + 1), chain_segment(a, s, own)));
    if (sends && sent >= 0 && sent < chain_segments)
      steps.push_back(send(chain.back(chain.me - 1), chain_segment(a, sent, own)));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

PlanCost cost_of_chain(const PlanArgs& a) {
  if (a.size == 1) return {};
  return {chain_segments + (a.size > 2 ? 1 : 0), std::int64_t{chain_segments} * (a.size - 1), a.count};
}

}  // namespace

namespace families {

AlgorithmRows chain() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "chain",
                   .plan = chain_broadcast,
                   .closed_form = cost_of_chain,
                   .formula = "(p-2+S)(alpha + n/S beta), S = 8 segments"},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "chain",
                   .plan = chain_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_chain,
                   .formula = "(p-2+S)(alpha + n/S (beta + gamma)), S = 8 segments"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
