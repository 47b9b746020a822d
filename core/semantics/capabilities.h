// The capabilities of each library, from the rows in core/semantics/libraries.
//
//   capabilities()     the operations of the real library itself: collectives, and reduce operations by dtype. pdsim adds the rest,
//                      its plans over the library's messages and its kernels inside the library's collectives, so that every world
//                      has everything; `native` of a collective that the library lacks is refused. Backends ask this table; doctor
//                      and list print it; tests run every cell
//   check_supported()  the calls that PyTorch's backend of that name takes; simulated worlds refuse the rest. Source: PyTorch's
//                      capability tables
#pragma once

#include "core/base/enum_set.h"
#include "core/base/result.h"
#include "core/collectives/collective.h"
#include "core/semantics/profile.h"

#include <span>
#include <string_view>

namespace pdsim {

struct Capabilities {
  std::string_view world;
  std::string_view title;  // as errors name it
  EnumSet<CollectiveKind> collectives{};
  EnumSet<ReduceOp> arithmetic{}, bitwise{};             // the library's own operations
  EnumSet<DType> arithmetic_dtypes{}, bitwise_dtypes{};  // for these; pdsim's kernels serve all others

  bool has(CollectiveKind kind) const { return collectives.has(kind); }
  bool combines(ReduceOp op, DType dtype) const {
    return (arithmetic.has(op) && arithmetic_dtypes.has(dtype)) || (bitwise.has(op) && bitwise_dtypes.has(dtype));
  }
};

// The calls that PyTorch's backend refuses in a profile.
struct Refusals {
  std::string_view profile{};  // empty: any
  EnumSet<DType> dtypes{};
  EnumSet<CollectiveKind> kinds{};
  EnumSet<ReduceOp> ops{};         // whatever the dtype
  EnumSet<DType> premul_dtypes{};  // for premul_sum alone
  bool any_source = false;         // receives from any rank
};

std::span<const Capabilities> capabilities();
// The capabilities of a world in the table.
const Capabilities& capabilities_of(std::string_view world);

// Error: unsupported, naming what PyTorch's backend refuses. Sends and receives move bytes, so they take every dtype.
Status check_supported(const LibrarySemantics& library, const Profile& profile, const Collective& call);

}  // namespace pdsim
