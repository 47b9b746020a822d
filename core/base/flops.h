// Arithmetic as a quantity: counts of floating-point operations and speeds of devices, with the rules of quantity.h.
#pragma once

#include "core/base/quantity.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim {

struct Flops {
  std::int64_t count = 0;
  constexpr auto operator<=>(const Flops&) const = default;
};

struct FlopRate {
  std::int64_t per_s = 0;  // 0: infinitely fast
  constexpr auto operator<=>(const FlopRate&) const = default;
};

// Rounded to the nearest picosecond.
Time working_time(Flops work, FlopRate speed);

Result<Flops> parse_flops(std::string_view text);         // 2.4GFLOP
Result<FlopRate> parse_flop_rate(std::string_view text);  // 19.5TFLOP/s

}  // namespace pdsim
