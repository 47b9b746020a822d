// A real deadline for one of pdsim's relative timeouts.
#pragma once

#include "core/base/quantity.h"

#include <algorithm>
#include <chrono>

namespace pdsim {

// max() and any timeout of more than a year mean no deadline.
inline std::chrono::steady_clock::time_point deadline_after(Time timeout) {
  constexpr std::int64_t year_ns = 365LL * 24 * 3600 * 1'000'000'000;
  if (timeout.ns() > year_ns) return std::chrono::steady_clock::time_point::max();
  return std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout.ns());
}

}  // namespace pdsim
