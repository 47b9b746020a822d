#include "core/parallel/agreement.h"

namespace pdsim {

Result<Rank> highest_rank(ProcessGroup& group, bool candidate, PurposeKind purpose) {
  const std::int64_t mine = candidate ? group.rank() : -1;
  const Result<std::int64_t> highest = agree(group, mine, ReduceOp::max, purpose);
  if (!highest.ok()) return highest.error();
  if (*highest < 0 || *highest >= group.size())
    return Error{Code::collective_mismatch,
                 "the ranks of the group agreed on no rank whose model counts; another collective of a peer may have "
                 "been taken for the agreement",
                 {}};
  return static_cast<Rank>(*highest);
}

}  // namespace pdsim
