#include "core/collectives/plans.h"

#include <algorithm>
#include <vector>

namespace pdsim {

Plan bruck_all_gather(PlanArgs a) {
  const auto blocks = [&a](int first, int many, BufferId buffer) {
    return Slice{first * a.count, many * a.count, buffer};
  };
  co_yield round(copy(blocks(0, 1, BufferId::scratch), {0, a.count, BufferId::input}));
  for (int d = 1; d < a.size; d *= 2) {
    const int many = std::min(d, a.size - d);
    co_yield round(send((a.rank - d + a.size) % a.size, blocks(0, many, BufferId::scratch)),
                   receive((a.rank + d) % a.size, blocks(d, many, BufferId::scratch)));
  }
  const int tail = a.size - a.rank;
  co_yield round(copy(blocks(a.rank, tail, BufferId::output), blocks(0, tail, BufferId::scratch)),
                 copy(blocks(0, a.rank, BufferId::output), blocks(tail, a.rank, BufferId::scratch)));
}

// scratch: the p blocks, by how far they still have to go; then what is sent and what arrives, packed.
Plan bruck_all_to_all(PlanArgs a) {
  const int p = a.size, half = (p + 1) / 2;
  const auto block = [&a](int i, BufferId buffer) { return Slice{i * a.count, a.count, buffer}; };
  std::vector<Step> steps;
  for (int i = 0; i < p; ++i)
    steps.push_back(copy(block(i, BufferId::scratch), block((a.rank + i) % p, BufferId::input)));
  co_yield std::span<const Step>(steps);
  for (int d = 1; d < p; d *= 2) {
    steps.clear();
    int many = 0;
    for (int i = 0; i < p; ++i)
      if ((i & d) != 0) steps.push_back(copy(block(p + many++, BufferId::scratch), block(i, BufferId::scratch)));
    co_yield std::span<const Step>(steps);
    co_yield round(send((a.rank + d) % p, {p * a.count, many * a.count, BufferId::scratch}),
                   receive((a.rank - d + p) % p, {(p + half) * a.count, many * a.count, BufferId::scratch}));
    steps.clear();
    many = 0;
    for (int i = 0; i < p; ++i)
      if ((i & d) != 0) steps.push_back(copy(block(i, BufferId::scratch), block(p + half + many++, BufferId::scratch)));
    co_yield std::span<const Step>(steps);
  }
  steps.clear();
  for (int i = 0; i < p; ++i)
    steps.push_back(copy(block((a.rank - i + p) % p, BufferId::output), block(i, BufferId::scratch)));
  co_yield std::span<const Step>(steps);
}

Plan linear_all_to_all(PlanArgs a) {
  std::vector<Step> steps{copy(a.output_part(a.rank), a.input_part(a.rank))};
  for (int k = 1; k < a.size; ++k) {
    const Rank to = (a.rank + k) % a.size, from = (a.rank - k + a.size) % a.size;
    steps.push_back(send(to, a.input_part(to)));
    steps.push_back(receive(from, a.output_part(from)));
  }
  co_yield std::span<const Step>(steps);
}

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

// Sends from a copy, for only copies of the input are scaled for avg and premul_sum.
Plan pairwise_reduce_scatter(PlanArgs a) {
  const auto block = [&a](int i) {
    Slice s = a.input_part(i);
    s.buffer = BufferId::scratch;
    return s;
  };
  const Slice last = a.input_part(a.size - 1);
  const std::int64_t all = last.offset + last.count;
  const Slice own{0, block(a.rank).count, BufferId::output};
  co_yield round(copy({0, all, BufferId::scratch}, {0, all, BufferId::input}));
  co_yield round(copy(own, block(a.rank)));
  for (int k = 1; k < a.size; ++k)
    co_yield round(send((a.rank + k) % a.size, block(a.rank + k)), receive_reduce((a.rank - k + a.size) % a.size, own));
}

}  // namespace pdsim
