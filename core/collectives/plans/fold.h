// Folds p ranks to a power of two: the first 2 * folded ranks pair up; the even one of a pair hands its part to the odd
// one and waits for the result. Active ranks count 0 .. power - 1, in rank order.
#pragma once

#include "core/base/types.h"
#include "core/collectives/plan.h"

namespace pdsim {

struct Fold {
  int power = 1;
  int folded = 0;
  explicit Fold(int size) {
    while (power * 2 <= size) power *= 2;
    folded = size - power;
  }
  bool in_pair(Rank r) const { return r < 2 * folded; }
  bool passive(Rank r) const { return in_pair(r) && r % 2 == 0; }
  int index_of(Rank active) const { return in_pair(active) ? active / 2 : active - folded; }
  Rank rank_of(int index) const { return index < folded ? 2 * index + 1 : index + folded; }
  // The first rank that active rank `index` represents; it represents all ranks before the next one's first.
  Rank first_of(int index) const { return index < folded ? 2 * index : index + folded; }
};

// Joins the slices first .. last, which are contiguous.
inline Slice joined(const Slice& first, const Slice& last) {
  return {first.offset, last.offset + last.count - first.offset, first.buffer};
}

}  // namespace pdsim
