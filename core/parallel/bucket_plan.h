// DDP's assignment of parameters to buckets by size.
//
//   rule    walk in the given order; append to the open bucket of the tensor's dtype and device; close it when its bytes reach
//           the current limit, and move that dtype's limit on (the last one stays). Left-over buckets come last, in order
//           of dtype's first appearance. A limit of 0 closes the bucket after every tensor.
//   source  torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size
#pragma once

#include "core/base/quantity.h"
#include "core/base/types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pdsim {

struct BucketTensor {
  std::int64_t elements = 0;
  DType dtype = DType::f32;
  int device = 0;
};

struct BucketAssignment {
  std::vector<std::vector<std::size_t>> buckets;  // indices into the input
  std::vector<Bytes> limits;                      // the limit that applied to each bucket
};

// `sort_by_first_index`: as at construction, when no explicit order was given.
BucketAssignment assign_buckets(std::span<const BucketTensor> tensors, std::span<const Bytes> limits,
                                bool sort_by_first_index);

// The limits DDP uses: [first, cap], or none for the first iteration.
std::vector<Bytes> bucket_limits(Bytes first_bucket, Bytes cap);
std::vector<Bytes> no_bucket_limit();

}  // namespace pdsim
