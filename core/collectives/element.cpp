#include "core/collectives/element.h"

#include "core/collectives/half.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace pdsim {
namespace {

template <class T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The precision of the floating dtypes; all others are computed as f64.
struct Precision {
  DType dtype;
  double roundoff, smallest;
};
constexpr std::array precisions{Precision{DType::f16, 0x1p-11, 0x1p-24}, Precision{DType::bf16, 0x1p-8, 0x1p-133},
                                Precision{DType::f32, 0x1p-24, 0x1p-149}, Precision{DType::f64, 0x1p-53, 0x1p-1074}};

const Precision& precision_of(DType dtype) {
  const auto* found =
      std::find_if(precisions.begin(), precisions.end(), [&](const Precision& p) { return p.dtype == dtype; });
  return found == precisions.end() ? precisions.back() : *found;
}

}  // namespace

void write_element(std::byte* at, DType dtype, double value) {
  switch (dtype) {
    case DType::f16:
      return store(at, to_f16(static_cast<float>(value)));
    case DType::bf16:
      return store(at, to_bf16(static_cast<float>(value)));
    case DType::f32:
      return store(at, static_cast<float>(value));
    case DType::f64:
      return store(at, value);
    case DType::i32:
      return store(at, static_cast<std::int32_t>(value));
    case DType::i64:
      return store(at, static_cast<std::int64_t>(value));
    case DType::i8:
    case DType::u8:
      return store(at, static_cast<std::uint8_t>(static_cast<std::int64_t>(value)));
    case DType::boolean:
      return store(at, static_cast<std::uint8_t>(value != 0.0 ? 1 : 0));
  }
}

double read_element(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return static_cast<double>(from_f16(load<std::uint16_t>(at)));
    case DType::bf16:
      return static_cast<double>(from_bf16(load<std::uint16_t>(at)));
    case DType::f32:
      return static_cast<double>(load<float>(at));
    case DType::f64:
      return load<double>(at);
    case DType::i32:
      return load<std::int32_t>(at);
    case DType::i64:
      return static_cast<double>(load<std::int64_t>(at));
    case DType::i8:
      return load<std::int8_t>(at);
    case DType::u8:
    case DType::boolean:
      return load<std::uint8_t>(at);
  }
  return 0.0;
}

std::uint64_t bits_of_element(const std::byte* at, DType dtype) {
  std::uint64_t bits = 0;
  for (std::size_t i = size_of(dtype); i-- > 0;) bits = bits << 8 | static_cast<std::uint64_t>(at[i]);
  return bits;
}

double element_of_bits(std::uint64_t bits, DType dtype) {
  std::byte bytes[8]{};
  for (std::size_t i = 0; i < size_of(dtype); ++i) bytes[i] = static_cast<std::byte>(bits >> (8 * i));
  return read_element(bytes, dtype);
}

std::int64_t ulps_between(double a, double b, DType dtype) {
  std::byte bytes[2][8]{};
  write_element(bytes[0], dtype, a);
  write_element(bytes[1], dtype, b);
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<std::int64_t>::max();
  // Bits of floating numbers count upwards from zero on both sides of it.
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  std::int64_t place[2];
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t bits = bits_of_element(bytes[i], dtype);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    place[i] = (bits & sign) != 0 ? -magnitude : magnitude;
  }
  return std::abs(place[0] - place[1]);
}

double unit_roundoff(DType dtype) { return precision_of(dtype).roundoff; }
double smallest_positive(DType dtype) { return precision_of(dtype).smallest; }

}  // namespace pdsim
