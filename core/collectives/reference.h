// The sequential reference: obviously correct results of every collective, for tests and validation.
//
//   order   reductions fold the ranks' inputs in rank order, in the dtype's own arithmetic
//   uneven  the _v kinds with parts of equal size, `count` elements each
//   shapes  inputs[r] and the result's [r] are Collective's input and output on rank r; empty where a rank has none
#pragma once

#include "core/collectives/collective.h"

#include <cstddef>
#include <vector>

namespace pdsim {

using RankBuffers = std::vector<std::vector<std::byte>>;

// `call` gives kind, dtype, count, op, premul and root; its views are ignored. The parts of all_gather_v are as long as the
// inputs; reduce_scatter_v and all_to_all_v have `count` elements a part.
RankBuffers reference_result(const Collective& call, const RankBuffers& inputs);

}  // namespace pdsim
