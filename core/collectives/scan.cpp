#include "core/collectives/plans.h"

#include <vector>

namespace pdsim {

Plan linear_scan(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.rank > 0) co_yield round(receive_reduce(a.rank - 1, a.whole()));
  if (a.rank + 1 < a.size) co_yield round(send(a.rank + 1, a.whole()));
}

// After the round of distance d the output is the combination of the 2d inputs that end here.
Plan doubling_scan(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  for (int d = 1; d < a.size; d *= 2) {
    const bool sends = a.rank + d < a.size;
    const bool receives = a.rank - d >= 0;
    std::vector<Step> steps;
    if (sends) steps.push_back(send(a.rank + d, a.whole()));
    if (receives) steps.push_back(receive_reduce(a.rank - d, a.whole()));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

Plan linear_exscan(PlanArgs a) {
  const Slice through{0, a.count, BufferId::scratch};
  co_yield round(copy(through, {0, a.count, BufferId::input}));
  if (a.rank > 0) co_yield round(receive(a.rank - 1, a.whole()), reduce_into(through, a.whole()));
  if (a.rank + 1 < a.size) co_yield round(send(a.rank + 1, through));
}

// `window` also holds this rank's input, which goes to the others but not into the output.
Plan doubling_exscan(PlanArgs a) {
  const Slice window{0, a.count, BufferId::scratch};
  const Slice came{a.count, a.count, BufferId::scratch};
  co_yield round(copy(window, {0, a.count, BufferId::input}));
  for (int d = 1; d < a.size; d *= 2) {
    std::vector<Step> steps;
    if (a.rank + d < a.size) steps.push_back(send(a.rank + d, window));
    if (a.rank - d >= 0) {
      steps.push_back(receive(a.rank - d, came));
      steps.push_back(d == 1 ? copy(a.whole(), came) : reduce_into(a.whole(), came));
      steps.push_back(reduce_into(window, came));
    }
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

}  // namespace pdsim
