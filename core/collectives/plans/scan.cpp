// Prefixes: what the ranks up to this one, or before it, combine to.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <array>
#include <vector>

namespace pdsim {
namespace {

std::int64_t two_vectors(const PlanArgs& a) { return 2 * a.count; }

// The same with partners at distance 1, 2, 4 ...   k rounds
//   source  Hillis and Steele, "Data parallel algorithms", CACM 1986
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

// Rank r ends with the combination of ranks 0 .. r.   r rounds of waiting, p-1 messages
Plan linear_scan(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  if (a.rank > 0) co_yield round(receive_reduce(a.rank - 1, a.whole()));
  if (a.rank + 1 < a.size) co_yield round(send(a.rank + 1, a.whole()));
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

// Rank r ends with the combination of ranks 0 .. r-1, rank 0 with nothing: its output is not touched.
Plan linear_exscan(PlanArgs a) {
  const Slice through{0, a.count, BufferId::scratch};
  co_yield round(copy(through, {0, a.count, BufferId::input}));
  if (a.rank > 0) co_yield round(receive(a.rank - 1, a.whole()), reduce_into(through, a.whole()));
  if (a.rank + 1 < a.size) co_yield round(send(a.rank + 1, through));
}

PlanCost cost_of_scan_doubling(const PlanArgs& a) {
  PlanCost cost{counting::ceil_log2(a.size), 0, counting::ceil_log2(a.size) * a.count};
  for (int d = 1; d < a.size; d *= 2) cost.messages += a.size - d;
  return cost;
}

PlanCost cost_of_scan_chain(const PlanArgs& a) {
  return {a.size < 3 ? a.size - 1 : 2, a.size - 1, a.size > 1 ? a.count : 0};
}

}  // namespace

namespace families {

AlgorithmRows scan() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::scan},
                   .name = "recursive_doubling",
                   .plan = doubling_scan,
                   .closed_form = cost_of_scan_doubling,
                   .formula = "k (alpha + n beta + n gamma)",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::scan},
                   .name = "linear",
                   .plan = linear_scan,
                   .closed_form = cost_of_scan_chain,
                   .formula = "(p-1)(alpha + n beta + n gamma)"},
      AlgorithmRow{.kinds = {K::exscan},
                   .name = "recursive_doubling",
                   .plan = doubling_exscan,
                   .scratch = two_vectors,
                   .closed_form = cost_of_scan_doubling,
                   .formula = "k (alpha + n beta + 2n gamma)",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::exscan},
                   .name = "linear",
                   .plan = linear_exscan,
                   .scratch = one_vector,
                   .closed_form = cost_of_scan_chain,
                   .formula = "(p-1)(alpha + n beta + n gamma)"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
