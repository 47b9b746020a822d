// A collective call as a value; the kinds are in collective_kind.h.
//
//   count    elements of the tensor that PyTorch's user passes as input (all_gather, gather: each rank's part; scatter,
//            reduce_scatter: the part each rank ends with; all_to_all: elements sent to each peer)
//   input    what this rank contributes; may alias output (in place)
//   output   what this rank ends with; sizes follow from the kind (collective_shape.h). Null data moves sizes only.
//   tag      separates concurrent operations of one group; the process group derives it from the sequence number
#pragma once

#include "core/base/types.h"
#include "core/base/views.h"
#include "core/collectives/collective_kind.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

// Where the parts of an uneven call begin: part i of a buffer holds the elements offsets[i] .. offsets[i + 1].
struct Splits {
  std::vector<std::int64_t> input;   // by destination rank; size group size + 1, or empty: not split
  std::vector<std::int64_t> output;  // by source rank; likewise
};

// pdsim's own messages use tags from here on; a program's tags are below. They fit Gloo's 32 bits.
constexpr Tag first_inner_tag = Tag{0x7b} << 24;

struct Algorithm;

struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  ConstView input{};
  MutableView output{};
  DType dtype = DType::f32;
  std::int64_t count = 0;
  ReduceOp op = ReduceOp::sum;
  double premul = 1.0;  // factor of premul_sum
  Rank root = 0;        // group rank; the peer for send and recv (any_source allowed for recv)
  Seq seq = 0;
  Tag user_tag = 0;                        // send and recv only
  std::shared_ptr<const Splits> splits{};  // _v kinds; null: every part has `count` elements
  std::shared_ptr<Rank> source{};          // recv only: receives the sender's group rank
  bool batched = false;                    // send and recv only: started together with others
  std::string_view algorithm = "auto";
  const Algorithm* own_algorithm = nullptr;  // a row outside the tables, instead of a name; outlives the call
  bool unproven = false;                     // run it without requiring a proof (CallOptions)
  Time timeout = Time::max();                // relative to the start; the backend decides who enforces it and how
};

}  // namespace pdsim
