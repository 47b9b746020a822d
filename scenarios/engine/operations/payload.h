// What collectives of a scenario carry, and what must arrive: small integers as functions of rank and index.
//
//   sums       at most eight ranks contribute to an element, so every sum is at most 24 and exact in every dtype and order
//   products   at most five factors are 2
//   cost       of a check: O(1) per element; a bounded number of elements spread over the whole is looked at
#pragma once

#include "core/collectives/collective.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdsim::scenarios::operations {

// One rank's part in one call.
struct Payload {
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;  // or the peer
  Rank rank = 0;
  int size = 1;

  std::int64_t input_count() const;
  std::int64_t output_count() const;
  std::vector<std::byte> input() const;
  // wrong_data naming rank, element, expected and got.
  Status check(const std::vector<std::byte>& output) const;
};

}  // namespace pdsim::scenarios::operations
