// One element of any dtype, as a number.
#pragma once

#include "core/base/types.h"

#include <cstddef>
#include <cstdint>

namespace pdsim {

// Rounds to the dtype (nearest even); integers wrap; bool is 0 or 1.
void write_element(std::byte* at, DType dtype, double value);
double read_element(const std::byte* at, DType dtype);  // i64: exact up to 2^53
std::uint64_t bits_of_element(const std::byte* at, DType dtype);
double element_of_bits(std::uint64_t bits, DType dtype);

// Counts the representable numbers between two elements of a floating dtype; 0 when they are equal or both NaN.
std::int64_t ulps_between(double a, double b, DType dtype);

// Unit roundoff and smallest positive number of a floating dtype.
double unit_roundoff(DType dtype);
double smallest_positive(DType dtype);

}  // namespace pdsim
