// The closed forms of the algorithms' rows, exact for every size, count and placement. The checker counts the same.
#pragma once

#include "core/collectives/algorithms.h"

namespace pdsim::costs {

PlanCost nothing(const PlanArgs& a);
PlanCost ring(const PlanArgs& a);            // all_reduce
PlanCost segmented_ring(const PlanArgs& a);  // all_reduce
PlanCost gloo_ring(const PlanArgs& a);       // all_reduce
PlanCost doubling(const PlanArgs& a);        // whole vectors, with a fold
PlanCost rabenseifner(const PlanArgs& a);
PlanCost bcube(const PlanArgs& a);
PlanCost reduce_broadcast(const PlanArgs& a);
PlanCost double_tree(const PlanArgs& a);
PlanCost two_level(const PlanArgs& a);
PlanCost knomial(const PlanArgs& a);

PlanCost tree_down(const PlanArgs& a);  // binomial broadcast
PlanCost gloo_tree(const PlanArgs& a);  // broadcast
PlanCost tree_up(const PlanArgs& a);    // binomial reduce
PlanCost knomial_down(const PlanArgs& a);
PlanCost chain(const PlanArgs& a);
PlanCost binary_tree_down(const PlanArgs& a);
PlanCost binary_tree_up(const PlanArgs& a);
PlanCost scatter_ring(const PlanArgs& a);
PlanCost scatter_doubling(const PlanArgs& a);
PlanCost ring_gather(const PlanArgs& a);
PlanCost halving_gather(const PlanArgs& a);

PlanCost to_root(const PlanArgs& a);    // all in one round
PlanCost from_root(const PlanArgs& a);  // all in one round
PlanCost binomial_gather(const PlanArgs& a);
PlanCost binomial_scatter(const PlanArgs& a);

PlanCost ring_blocks(const PlanArgs& a);  // p-1 rounds of one part each
PlanCost bruck_gather(const PlanArgs& a);
PlanCost doubling_blocks(const PlanArgs& a);
PlanCost halving_blocks(const PlanArgs& a);
PlanCost neighbour_blocks(const PlanArgs& a);
PlanCost bruck_exchange(const PlanArgs& a);
PlanCost one_round(const PlanArgs& a);  // of p-1 messages each

PlanCost dissemination(const PlanArgs& a);
PlanCost doubling_barrier(const PlanArgs& a);
PlanCost linear_barrier(const PlanArgs& a);
PlanCost tree_barrier(const PlanArgs& a);
PlanCost double_ring(const PlanArgs& a);

PlanCost scan_chain(const PlanArgs& a);
PlanCost scan_doubling(const PlanArgs& a);
PlanCost direct(const PlanArgs& a);

}  // namespace pdsim::costs
