// The number of a collective in records, messages and reports.
//
//   from 1   as PyTorch's collective_seq_id and SeqNum; Collective::seq, which makes tags, begins at 0
#pragma once

#include "core/collectives/collective.h"

namespace pdsim {

constexpr Seq recorded_seq(const Collective& call) { return call.seq + 1; }

}  // namespace pdsim
