// Times, sizes, rates and counts of arithmetic: exact integers with units, spelled in C++ as in scenario files (5_us, 25_GB_per_s).
//
//   units    Time counts picoseconds (about 106 days fit), Bytes bytes, Rate bytes per second, Flops floating-point operations,
//            FlopRate those per second, Ppm parts per million
//   parsing  a number and a unit with no space; decimal arithmetic, no floating point; what does not fit is an error
//   printing the largest unit that keeps four significant digits; one spelling everywhere
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace pdsim {

struct Time {
  std::int64_t ps = 0;

  static constexpr Time max() { return {std::numeric_limits<std::int64_t>::max()}; }
  constexpr auto operator<=>(const Time&) const = default;
  // Saturates: max(), which means never, stays max(), and nothing overflows 64 bits.
  constexpr Time operator+(Time o) const {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(ps, o.ps, &sum)) return {sum};
    return {o.ps > 0 ? max().ps : std::numeric_limits<std::int64_t>::min()};
  }
  constexpr Time operator-(Time o) const { return {ps - o.ps}; }
  constexpr Time operator*(std::int64_t k) const {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(ps, k, &product)) return {product};
    return {(ps < 0) == (k < 0) ? max().ps : std::numeric_limits<std::int64_t>::min()};
  }
  constexpr Time& operator+=(Time o) { return *this = *this + o; }
  constexpr std::int64_t ns() const { return ps / 1000; }
  constexpr double us() const { return static_cast<double>(ps) / 1e6; }
  constexpr double seconds() const { return static_cast<double>(ps) / 1e12; }
};

struct Bytes {
  std::int64_t count = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
};

struct Rate {
  std::int64_t bytes_per_s = 0;  // 0: infinitely fast
  constexpr auto operator<=>(const Rate&) const = default;
};

struct Flops {
  std::int64_t count = 0;
  constexpr auto operator<=>(const Flops&) const = default;
};

struct FlopRate {
  std::int64_t per_s = 0;  // 0: infinitely fast
  constexpr auto operator<=>(const FlopRate&) const = default;
};

struct Ppm {
  std::int64_t value = 0;
  constexpr auto operator<=>(const Ppm&) const = default;
};

// Time to move `size` at `rate`, rounded to the nearest picosecond.
Time transfer_time(Bytes size, Rate rate);
// Likewise for arithmetic; Time::max() where it does not fit.
Time working_time(Flops work, FlopRate speed);

Result<Time> parse_time(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);
Result<Rate> parse_rate(std::string_view text);
Result<Ppm> parse_ppm(std::string_view text);
Result<Flops> parse_flops(std::string_view text);         // 2.4GFLOP
Result<FlopRate> parse_flop_rate(std::string_view text);  // 19.5TFLOP/s

std::string to_string(Time t);
std::string to_string(Bytes b);
std::string to_string(Rate r);
std::string to_string(Ppm p);

namespace literals {
constexpr Time operator""_ps(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Time operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1000}; }
constexpr Time operator""_us(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000}; }
constexpr Time operator""_ms(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000'000}; }
constexpr Time operator""_s(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000'000'000}; }
constexpr Time operator""_min(unsigned long long n) { return {static_cast<std::int64_t>(n) * 60'000'000'000'000}; }
constexpr Bytes operator""_B(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 30}; }
constexpr Rate operator""_MB_per_s(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000}; }
constexpr Rate operator""_GB_per_s(unsigned long long n) { return {static_cast<std::int64_t>(n) * 1'000'000'000}; }
}  // namespace literals

}  // namespace pdsim
