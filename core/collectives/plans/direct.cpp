// One message between two ranks.

#include "core/collectives/plans/family.h"

#include <array>

namespace pdsim {
namespace {

// Root is the peer
Plan direct_send(PlanArgs a) { co_yield round(send(a.root, {0, a.count, BufferId::input})); }

Plan direct_receive(PlanArgs a) { co_yield round(receive(a.root, a.whole())); }

PlanCost cost_of_direct(const PlanArgs& a) { return {1, 1, a.count}; }

}  // namespace

namespace families {

AlgorithmRows direct() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::send},
                   .name = "direct",
                   .plan = direct_send,
                   .closed_form = cost_of_direct,
                   .formula = "alpha + n beta",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::recv},
                   .name = "direct",
                   .plan = direct_receive,
                   .closed_form = cost_of_direct,
                   .formula = "alpha + n beta",
                   .automatic = true},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
