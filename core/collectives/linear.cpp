#include "core/collectives/plans.h"

#include <vector>

namespace pdsim {

Plan linear_gather(PlanArgs a) {
  const Slice own{0, a.count, BufferId::input};
  if (a.rank != a.root) {
    co_yield round(send(a.root, own));
    co_return;
  }
  std::vector<Step> steps{copy({a.root * a.count, a.count, BufferId::output}, own)};
  for (Rank r = 0; r < a.size; ++r)
    if (r != a.root) steps.push_back(receive(r, {r * a.count, a.count, BufferId::output}));
  co_yield std::span<const Step>(steps);
}

Plan linear_scatter(PlanArgs a) {
  if (a.rank != a.root) {
    co_yield round(receive(a.root, a.whole()));
    co_return;
  }
  std::vector<Step> steps{copy(a.whole(), {a.root * a.count, a.count, BufferId::input})};
  for (Rank r = 0; r < a.size; ++r)
    if (r != a.root) steps.push_back(send(r, {r * a.count, a.count, BufferId::input}));
  co_yield std::span<const Step>(steps);
}

Plan pairwise_all_to_all(PlanArgs a) {
  co_yield round(copy(a.output_part(a.rank), a.input_part(a.rank)));
  for (int k = 1; k < a.size; ++k) {
    const Rank to = (a.rank + k) % a.size;
    const Rank from = (a.rank - k + a.size) % a.size;
    co_yield round(send(to, a.input_part(to)), receive(from, a.output_part(from)));
  }
}

Plan direct_send(PlanArgs a) { co_yield round(send(a.root, {0, a.count, BufferId::input})); }

Plan direct_receive(PlanArgs a) { co_yield round(receive(a.root, a.whole())); }

}  // namespace pdsim
