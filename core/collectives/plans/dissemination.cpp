// Signals at distances 1, 2, 4 ... around the ranks.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <array>

namespace pdsim {
namespace {

// In round j every rank signals rank + 2^j and waits for rank - 2^j.   k rounds, p k empty messages
//   source  Hensgen, Finkel, Manber, "Two algorithms for barrier synchronization", 1988
Plan dissemination_barrier(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  for (int distance = 1; distance < a.size; distance *= 2)
    co_yield round(send((a.rank + distance) % a.size, nothing),
                   receive((a.rank - distance % a.size + a.size) % a.size, nothing));
}

PlanCost cost_of_dissemination(const PlanArgs& a) {
  return {counting::ceil_log2(a.size), std::int64_t{a.size} * counting::ceil_log2(a.size), 0};
}

}  // namespace

namespace families {

AlgorithmRows dissemination() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::barrier},
                   .name = "dissemination",
                   .plan = dissemination_barrier,
                   .closed_form = cost_of_dissemination,
                   .formula = "k alpha",
                   .automatic = true},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
