// How long a thread that polls a library sleeps between two looks.
//
//   rule   not at all for 20 ms after something has happened; then for a hundredth of the time since, at most 5 ms: an operation
//          ends late by one per cent, and a hang of five seconds costs some thousand looks
#pragma once

#include <algorithm>
#include <chrono>

namespace pdsim {

inline std::chrono::microseconds nap_after(std::chrono::steady_clock::duration quiet) {
  constexpr std::chrono::milliseconds eager(20);
  constexpr std::chrono::microseconds longest(5000);
  if (quiet <= eager) return {};
  return std::min(std::chrono::duration_cast<std::chrono::microseconds>(quiet / 100), longest);
}

}  // namespace pdsim
