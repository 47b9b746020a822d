// What a trial of a collective carries, and what must arrive: numbers as functions of rank and index.
//
//   exact     small integers. Sums: at most eight ranks contribute to an element, so every partial sum is at most 24 and exact
//             in every dtype and order; products: at most five factors are 2. The result must be right bit for bit
//   rounding  of floating sums and products: any numbers. The result must be within the bound of its n terms in any order,
//             g(n) = n u / (1 - n u) times the sum of their magnitudes
//   stated    what the caller says that each rank passes; the result must be right as that of rounding values, of integers exactly
//   averages  of floats scale before they add, so they have the bound too; of integers divide the sum, towards zero
//   cost      of a check: O(1) per element of whole groups' exact values, else O(size)
//   source    the bound: Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2
#pragma once

#include "core/base/result.h"
#include "core/collectives/collective_shape.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdsim {

enum class Values : std::uint8_t { exact, rounding };

// Whether rounding values mean anything: sums and products of a floating dtype.
bool can_round(DType dtype, ReduceOp op);

struct WrongElement {
  std::int64_t element = 0;
  double expected = 0.0, got = 0.0;
  std::uint64_t expected_bits = 0, got_bits = 0;
};

struct PayloadCheck {
  std::int64_t wrong = 0;    // elements
  std::int64_t max_ulp = 0;  // of the elements that are within the bound
  std::optional<WrongElement> first;
};

// One rank's part in one call.
struct Payload {
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::f32;
  std::int64_t count = 0;
  ReduceOp op = ReduceOp::sum;
  Rank root = 0;  // or the peer
  Rank rank = 0;
  int size = 1;
  double premul = 1.0;
  Values values = Values::exact;
  std::vector<std::int64_t> counts{};  // of the _v kinds: elements of each rank's part (all_to_all_v: to each rank)
  // Instead of the patterns, by rank: what every rank passes, numbers that the dtype holds, as their results are. Each rank has as many as
  // its layout says.
  std::shared_ptr<const std::vector<std::vector<double>>> stated{};

  CollectiveLayout layout() const;
  // As a Collective's fields.
  std::int64_t own_count() const;
  std::shared_ptr<const Splits> splits() const;
  std::int64_t input_count() const;
  std::int64_t output_count() const;
  std::vector<std::byte> input() const;
  // Looks at every `stride`-th element of what arrived.
  PayloadCheck compare(std::span<const std::byte> output, std::int64_t stride = 1) const;
  // Looks at 65,536 elements at most. wrong_data naming rank, element, expected, got and bits.
  Status check(std::span<const std::byte> output) const;
};

}  // namespace pdsim
