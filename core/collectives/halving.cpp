#include "core/collectives/plans.h"

#include <vector>

namespace pdsim {
namespace {

int smallest_factor(int n) {
  for (int f = 2; f * f <= n; ++f)
    if (n % f == 0) return f;
  return n;
}

}  // namespace

Plan rabenseifner_all_reduce(PlanArgs a) {
  co_yield round(copy(a.whole(), {0, a.count, BufferId::input}));
  int power = 1;
  while (power * 2 <= a.size) power *= 2;
  const int folded = a.size - power;
  const bool in_pair = a.rank < 2 * folded;
  if (in_pair && a.rank % 2 == 0) {
    co_yield round(send(a.rank + 1, a.whole()));
    co_yield round(receive(a.rank + 1, a.whole()));
    co_return;
  }
  if (in_pair) co_yield round(receive_reduce(a.rank - 1, a.whole()));
  const int me = in_pair ? a.rank / 2 : a.rank - folded;
  const auto rank_of = [folded](int i) { return i < folded ? 2 * i + 1 : i + folded; };
  for (int mask = power / 2; mask > 0; mask /= 2) {
    const int keep = me & ~(mask - 1);
    const int give = keep ^ mask;
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, a.whole().chunks(power, give, mask)),
                   receive_reduce(peer, a.whole().chunks(power, keep, mask)));
  }
  for (int mask = 1; mask < power; mask *= 2) {
    const int own = me & ~(mask - 1);
    const Rank peer = rank_of(me ^ mask);
    co_yield round(send(peer, a.whole().chunks(power, own, mask)),
                   receive(peer, a.whole().chunks(power, own ^ mask, mask)));
  }
  if (in_pair) co_yield round(send(a.rank - 1, a.whole()));
}

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

}  // namespace pdsim
