// Reduce-scatter and all-gather over the factors of the number of ranks.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pdsim {
namespace {

int smallest_factor(int n) {
  for (int f = 2; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

// Reduce-scatter then all-gather over the prime factors of p, each group exchanging at once.   2 rounds per factor
//   source  Gloo's bcube, whose base is one number; the smallest factors first serve every p
Plan bcube_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  struct Level {
    int base, stride, first;
  };
  std::vector<Level> levels;
  for (int span = a.size, first = 0; span > 1;) {
    const int base = smallest_factor(span);
    levels.push_back({base, span / base, first});
    span /= base;
    first += a.rank / span % base * span;
  }
  std::vector<Step> steps;
  for (const Level& l : levels) {
    steps.clear();
    const int digit = a.rank / l.stride % l.base;
    const Slice own = a.whole().chunks(a.size, l.first + digit * l.stride, l.stride);
    for (int j = 1; j < l.base; ++j) {
      const int to = (digit + j) % l.base, from = (digit - j + l.base) % l.base;
      steps.push_back(
          send(a.rank + (to - digit) * l.stride, a.whole().chunks(a.size, l.first + to * l.stride, l.stride)));
      steps.push_back(receive_reduce(a.rank + (from - digit) * l.stride, own));
    }
    co_yield std::span<const Step>(steps);
  }
  for (std::size_t i = levels.size(); i-- > 0;) {
    const Level& l = levels[i];
    steps.clear();
    const int digit = a.rank / l.stride % l.base;
    const Slice own = a.whole().chunks(a.size, l.first + digit * l.stride, l.stride);
    for (int j = 1; j < l.base; ++j) {
      const int to = (digit + j) % l.base, from = (digit - j + l.base) % l.base;
      steps.push_back(send(a.rank + (to - digit) * l.stride, own));
      steps.push_back(
          receive(a.rank + (from - digit) * l.stride, a.whole().chunks(a.size, l.first + from * l.stride, l.stride)));
    }
    co_yield std::span<const Step>(steps);
  }
}

PlanCost cost_of_bcube(const PlanArgs& a) {
  const int p = a.size;
  PlanCost cost;
  for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f) {
    if (rest % f != 0) continue;
    cost.rounds += 2;
    cost.messages += std::int64_t{2} * p * (f - 1);
  }
  for (int me = 0; me < p; ++me) {
    std::int64_t sent = a.count - counting::chunks(p, me, 1, a.count);
    for (int rest = p, f = 2; rest > 1; rest % f == 0 ? rest /= f : ++f)
      if (rest % f == 0) sent += (f - 1) * counting::chunks(p, me / (rest / f) * (rest / f), rest / f, a.count);
    cost.elements_sent = std::max(cost.elements_sent, sent);
  }
  return cost;
}

}  // namespace

namespace families {

AlgorithmRows bcube() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_reduce},
                   .name = "bcube",
                   .plan = bcube_all_reduce,
                   .closed_form = cost_of_bcube,
                   .formula = "2 sum(f-1) alpha + 2n(p-1)/p beta + n(p-1)/p gamma, over the prime factors f of p"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
