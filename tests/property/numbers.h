// The inputs of a case, and what its outputs must be by the sequential reference.
//
//   exact     bit for bit
//   rounding  floating sums and products within g(m) = m u / (1 - m u) times the sum of magnitudes, m the additions that an
//             element can pass in this algorithm's order; minima and maxima bit for bit
//   special   NaN where the reference has NaN, the same infinity; else as above. Which of two zeros is the smaller one depends
//             on the order, so minima and maxima may have either
//   source    Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2
#pragma once

#include "tests/property/worlds/collective_world.h"

#include <span>
#include <string>

namespace pdsim::property {

RankBuffers inputs_of(const CollectiveCase& c);

// Combinations that an element can pass at most, in the order of this algorithm.
int additions(const CollectiveCase& c);

// What the reference gives, uneven kinds too.
RankBuffers expected_of(const CollectiveCase& c, const RankBuffers& inputs);

// Empty when `output` is what rank `rank` must have; else the first wrong element.
std::string wrong_output(const CollectiveCase& c, const RankBuffers& inputs, Rank rank,
                         std::span<const std::byte> output);

// Whether two outputs are the same: bit for bit, save that one NaN is as good as another.
bool same_numbers(DType dtype, std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace pdsim::property
