// Everything posted at once: between the root and each rank, or between all of them.

#include "core/collectives/plans/family.h"

#include <array>
#include <vector>

namespace pdsim {
namespace {

// One round at the root
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

// One round; the root adds in rank order
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

// One round at the root, p-1 messages
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

// One round at the root, p-1 messages
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

// One round of p-1 messages each
Plan linear_all_gather(PlanArgs a) {
  const Slice own{0, a.output_part(a.rank).count, BufferId::input};
  std::vector<Step> steps{copy(a.output_part(a.rank), own)};
  for (int k = 1; k < a.size; ++k) {
    const Rank from = (a.rank - k + a.size) % a.size;
    steps.push_back(send((a.rank + k) % a.size, own));
    steps.push_back(receive(from, a.output_part(from)));
  }
  co_yield std::span<const Step>(steps);
}

// One round of p-1 messages each
Plan linear_all_to_all(PlanArgs a) {
  std::vector<Step> steps{copy(a.output_part(a.rank), a.input_part(a.rank))};
  for (int k = 1; k < a.size; ++k) {
    const Rank to = (a.rank + k) % a.size, from = (a.rank - k + a.size) % a.size;
    steps.push_back(send(to, a.input_part(to)));
    steps.push_back(receive(from, a.output_part(from)));
  }
  co_yield std::span<const Step>(steps);
}

// To rank 0 and back
Plan linear_barrier(PlanArgs a) {
  const Slice nothing{0, 0, BufferId::output};
  if (a.rank != 0) {
    co_yield round(send(0, nothing));
    co_yield round(receive(0, nothing));
    co_return;
  }
  std::vector<Step> steps;
  for (Rank r = 1; r < a.size; ++r) steps.push_back(receive(r, nothing));
  co_yield std::span<const Step>(steps);
  for (Step& s : steps) s = send(s.peer, nothing);
  co_yield std::span<const Step>(steps);
}

PlanCost cost_of_to_root(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, a.size - 1, a.size > 1 ? a.count : 0}; }

PlanCost cost_of_from_root(const PlanArgs& a) { return {a.size > 1 ? 1 : 0, a.size - 1, (a.size - 1) * a.count}; }

PlanCost cost_of_one_round(const PlanArgs& a) {
  return {a.size > 1 ? 1 : 0, std::int64_t{a.size} * (a.size - 1), (a.size - 1) * a.count};
}

PlanCost cost_of_linear_barrier(const PlanArgs& a) { return {a.size > 1 ? 2 : 0, 2 * (a.size - 1), 0}; }

}  // namespace

namespace families {

AlgorithmRows linear() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::gather},
                   .name = "linear",
                   .plan = linear_gather,
                   .closed_form = cost_of_to_root,
                   .formula = "(p-1)(alpha + n beta) at the root's port",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::scatter},
                   .name = "linear",
                   .plan = linear_scatter,
                   .closed_form = cost_of_from_root,
                   .formula = "(p-1)(alpha + n beta) at the root's port",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "linear",
                   .plan = linear_broadcast,
                   .closed_form = cost_of_from_root,
                   .formula = "(p-1)(alpha + n beta) at the root's port"},
      AlgorithmRow{.kinds = {K::reduce},
                   .name = "linear",
                   .plan = linear_reduce,
                   .scratch = one_vector,
                   .closed_form = cost_of_to_root,
                   .formula = "(p-1)(alpha + n beta + n gamma) at the root's port"},
      AlgorithmRow{.kinds = {K::all_gather, K::all_gather_v},
                   .name = "linear",
                   .plan = linear_all_gather,
                   .closed_form = cost_of_one_round,
                   .formula = "(p-1)(alpha + n beta) at every port, n of the largest part"},
      AlgorithmRow{.kinds = {K::all_to_all, K::all_to_all_v},
                   .name = "linear",
                   .plan = linear_all_to_all,
                   .closed_form = cost_of_one_round,
                   .formula = "(p-1)(alpha + n beta) at every port"},
      AlgorithmRow{.kinds = {K::barrier},
                   .name = "linear",
                   .plan = linear_barrier,
                   .closed_form = cost_of_linear_barrier,
                   .formula = "2(p-1) alpha"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
