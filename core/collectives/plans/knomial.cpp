// Trees and exchanges of a radix above two.

#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

constexpr int knomial_radix = 4;

std::int64_t radix_vectors(const PlanArgs& a) { return knomial_radix * a.count; }

// Recursive doubling by four: whole vectors to three partners at once; extra ranks go through a proxy.
//   source  UCC
// Every rank of a group of `radix` combines the group's vectors in the same order, so that all get the same bits.
Plan knomial_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int power = 1;
  while (power * knomial_radix <= a.size) power *= knomial_radix;
  const Rank proxy = a.rank % power;
  if (a.rank >= power) {
    co_yield round(send(proxy, a.whole()));
    co_yield round(receive(proxy, a.whole()));
    co_return;
  }
  std::vector<Step> steps;
  for (Rank extra = a.rank + power; extra < a.size; extra += power) steps.push_back(receive_reduce(extra, a.whole()));
  if (!steps.empty()) co_yield std::span<const Step>(steps);
  const auto slot = [&a](int digit) { return Slice{digit * a.count, a.count, BufferId::scratch}; };
  for (int stride = 1; stride < power; stride *= knomial_radix) {
    const int mine = a.rank / stride % knomial_radix;
    steps.assign(1, copy(slot(mine), a.whole()));
    for (int j = 1; j < knomial_radix; ++j) {
      const int to = (mine + j) % knomial_radix, from = (mine + knomial_radix - j) % knomial_radix;
      steps.push_back(send(a.rank + (to - mine) * stride, a.whole()));
      steps.push_back(receive(a.rank + (from - mine) * stride, slot(from)));
    }
    co_yield std::span<const Step>(steps);
    steps.assign(1, copy(a.whole(), slot(0)));
    for (int digit = 1; digit < knomial_radix; ++digit) steps.push_back(reduce_into(a.whole(), slot(digit)));
    co_yield std::span<const Step>(steps);
  }
  steps.clear();
  for (Rank extra = a.rank + power; extra < a.size; extra += power) steps.push_back(send(extra, a.whole()));
  if (!steps.empty()) co_yield std::span<const Step>(steps);
}

// Ceil(log4 p) rounds at the root
Plan knomial_broadcast(PlanArgs a) {
  const int me = (a.rank - a.root + a.size) % a.size;
  const auto rank_of = [&a](int relative) { return (relative + a.root) % a.size; };
  int stride = 1;
  while (stride < a.size && me % (stride * knomial_radix) == 0) stride *= knomial_radix;
  if (me == 0) {
    co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  } else {
    co_yield round(receive(rank_of(me - me % (stride * knomial_radix)), a.whole()));
  }
  std::vector<Step> steps;
  for (stride /= knomial_radix; stride > 0; stride /= knomial_radix) {
    steps.clear();
    for (int child = me + stride; child < a.size && child < me + knomial_radix * stride; child += stride)
      steps.push_back(send(rank_of(child), a.whole()));
    if (!steps.empty()) co_yield std::span<const Step>(steps);
  }
}

PlanCost cost_of_knomial(const PlanArgs& a) {
  int power = 1, digits = 0;
  for (; power * knomial_radix <= a.size; ++digits) power *= knomial_radix;
  const int extras = a.size - power, of_first = (a.size - 1) / power;
  return {digits + (extras > 0 ? 2 : 0), std::int64_t{power} * digits * (knomial_radix - 1) + 2 * extras,
          (std::int64_t{digits} * (knomial_radix - 1) + of_first) * a.count};
}

PlanCost cost_of_knomial_down(const PlanArgs& a) {
  PlanCost cost{0, a.size - 1, 0};
  for (int stride = 1; stride < a.size; stride *= knomial_radix) {
    ++cost.rounds;
    cost.elements_sent += std::min(knomial_radix - 1, (a.size - 1) / stride) * a.count;
  }
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows knomial() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{
          .kinds = {K::all_reduce},
          .name = "knomial",
          .plan = knomial_all_reduce,
          .scratch = radix_vectors,
          .closed_form = cost_of_knomial,
          .formula = "log4(p) (3 alpha + 3n beta + 3n gamma) at one port; extra ranks add 2(alpha + n beta) + n gamma"},
      AlgorithmRow{.kinds = {K::broadcast},
                   .name = "knomial",
                   .plan = knomial_broadcast,
                   .closed_form = cost_of_knomial_down,
                   .formula = "ceil(log4 p) (alpha + 3n beta) at one port"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
