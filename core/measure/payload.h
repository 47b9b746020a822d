// The data that a trial of a collective sends, and the result it must produce: numbers as functions of rank and index.
//
//   exact     small integers. Sums: at most eight ranks contribute to an element, so every partial sum is at most 24 and exact
//             in every dtype and order; products: at most five factors are 2. The result must be right bit for bit
//   rounding  floating sums and products: any numbers. The result must be within the bound of its n terms in any order,
//             g(n) = n u / (1 - n u) times the sum of their magnitudes
//   stated    the values that the caller gives for each rank; the result must be right as for rounding values, exactly for
//             integers
//   averages  floats scale before they add, so the bound applies too; integers divide the sum, towards zero
//   cost      a check: O(1) per element for whole groups' exact values, else O(size)
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

// Whether rounding values are meaningful: for sums and products of a floating dtype.
bool can_round(DType dtype, ReduceOp op);

struct WrongElement {
  std::int64_t element = 0;
  double expected = 0.0, got = 0.0;
  std::uint64_t expected_bits = 0, got_bits = 0;
};

struct PayloadCheck {
  std::int64_t wrong = 0;    // elements
  std::int64_t max_ulp = 0;  // of the elements within the bound
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
  std::vector<std::int64_t> counts{};  // _v kinds: elements of each rank's part (all_to_all_v: to each rank)
  // Replaces the patterns, by rank: the inputs of every rank, numbers that the dtype represents exactly, as their results must
  // be. Each rank has as many as its layout says.
  std::shared_ptr<const std::vector<std::vector<double>>> stated{};

  CollectiveLayout layout() const;
  // The Collective's fields of the same names.
  std::int64_t own_count() const;
  std::shared_ptr<const Splits> splits() const;
  std::int64_t input_count() const;
  std::int64_t output_count() const;
  std::vector<std::byte> input() const;
  // Checks every `stride`-th element of the output.
  PayloadCheck compare(std::span<const std::byte> output, std::int64_t stride = 1) const;
  // Checks at most 65,536 elements. Errors: wrong_data, naming rank, element, expected, got and bits.
  Status check(std::span<const std::byte> output) const;
};

}  // namespace pdsim
