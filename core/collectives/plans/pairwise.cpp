// A different partner in each round, until everyone has met everyone.

#include "core/collectives/plans/counting.h"
#include "core/collectives/plans/family.h"

#include <array>
#include <vector>

namespace pdsim {
namespace {

// (p-1) rounds; in round k to rank + k, from rank - k
Plan pairwise_all_to_all(PlanArgs a) {
  co_yield round(copy(a.output_part(a.rank), a.input_part(a.rank)));
  for (int k = 1; k < a.size; ++k) {
    const Rank to = (a.rank + k) % a.size;
    const Rank from = (a.rank - k + a.size) % a.size;
    co_yield round(send(to, a.input_part(to)), receive(from, a.output_part(from)));
  }
}

// In round k with rank ^ k; shifts where p is not a power of two, as MPICH
Plan pairwise_xor_all_to_all(PlanArgs a) {
  if ((a.size & (a.size - 1)) != 0) return pairwise_all_to_all(a);
  return [](PlanArgs b) -> Plan {
    co_yield round(copy(b.output_part(b.rank), b.input_part(b.rank)));
    for (int k = 1; k < b.size; ++k) {
      const Rank peer = b.rank ^ k;
      co_yield round(send(peer, b.input_part(peer)), receive(peer, b.output_part(peer)));
    }
  }(a);
}

// (p-1) rounds; in round k to rank + k; summed from the own part downwards
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

}  // namespace

namespace families {

AlgorithmRows pairwise() {
  using K = CollectiveKind;
  static constexpr std::array rows{
      AlgorithmRow{.kinds = {K::all_to_all, K::all_to_all_v},
                   .name = "pairwise",
                   .plan = pairwise_all_to_all,
                   .closed_form = counting::parts_in_turn,
                   .formula = "(p-1)(alpha + n beta), n of the largest part",
                   .automatic = true},
      AlgorithmRow{.kinds = {K::all_to_all, K::all_to_all_v},
                   .name = "pairwise_xor",
                   .plan = pairwise_xor_all_to_all,
                   .closed_form = counting::parts_in_turn,
                   .formula = "(p-1)(alpha + n beta), n of the largest part"},
      AlgorithmRow{.kinds = {K::reduce_scatter, K::reduce_scatter_v},
                   .name = "pairwise",
                   .plan = pairwise_reduce_scatter,
                   .scratch = whole_input,
                   .closed_form = counting::parts_in_turn,
                   .formula = "(p-1)(alpha + n beta + n gamma), n of the largest part"},
  };
  return rows;
}

}  // namespace families
}  // namespace pdsim
