// The only generator: SplitMix64, splittable by name, specified to the bit, so that a seed replays on every compiler.
//
//   streams  Random(seed).stream("jitter", rank) is independent of every other stream: a new draw in one shifts no other
//   below    unbiased, by Lemire's method; unit() is in [0, 1) with 53 bits; normal-ish draws are sums of units, no libm
//   source   Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <string_view>

namespace pdsim {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }

  // Uniform in [0, n); n > 0.
  constexpr std::uint64_t below(std::uint64_t n) {
    std::uint64_t draw = next();
    Wide product = static_cast<Wide>(draw) * n;
    auto low = static_cast<std::uint64_t>(product);
    if (low >= n) return static_cast<std::uint64_t>(product >> 64);  // most: the threshold is below n
    const std::uint64_t threshold = (0 - n) % n;
    while (low < threshold) {
      draw = next();
      product = static_cast<Wide>(draw) * n;
      low = static_cast<std::uint64_t>(product);
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  constexpr Random stream(std::string_view purpose, std::uint64_t index = 0) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return Random(mix(mix(state_ ^ hash) + index * 0xd1342543de82ef95ULL));
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

}  // namespace pdsim
