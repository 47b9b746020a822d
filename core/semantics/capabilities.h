// THE tables of what each library can do.
//
//   capabilities()  what the real library does itself: collectives, and reduce operations by dtype. What it lacks pdsim adds, its
//                   plans over the library's messages and its kernels inside the library's collectives, so that every world has
//                   everything; `native` of a collective that the library lacks is refused. Backends ask this table; doctor and list
//                   print it; tests run every cell. Source: Gloo 0.5's collectives that take a tag and a timeout; MPI 3.1, chapters
//                   5.9 and 5.12; nccl.h 2.28
//   offers()        what PyTorch's backend of that name takes; simulated worlds refuse the rest. Source: PyTorch's capability tables
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
  std::string_view title;   // as errors name it
  std::string_view memory;  // that buffers may lie in
  EnumSet<CollectiveKind> collectives{};
  EnumSet<ReduceOp> arithmetic{}, bitwise{};             // the library's own operations
  EnumSet<DType> arithmetic_dtypes{}, bitwise_dtypes{};  // for these; all others are pdsim's kernels

  bool has(CollectiveKind kind) const { return collectives.has(kind); }
  bool combines(ReduceOp op, DType dtype) const {
    return (arithmetic.has(op) && arithmetic_dtypes.has(dtype)) || (bitwise.has(op) && bitwise_dtypes.has(dtype));
  }
};

std::span<const Capabilities> capabilities();
// Of a world in the table.
const Capabilities& capabilities_of(std::string_view world);

// Error: unsupported, with what PyTorch's backend refuses. Sends and receives move bytes, so they take every dtype.
Status offers(const LibrarySemantics& library, const Profile& profile, const Collective& call);

}  // namespace pdsim
