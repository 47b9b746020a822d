// The plan checker's state of one element: the input element and the ranks that it sums.
#pragma once

#include "core/base/types.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pdsim {

template <std::size_t Words>  // 64 ranks each
struct PlanElement {
  static constexpr std::int32_t sound = 0, unwritten = -1, mixed = -2;  // else 1 + the rank that it contains twice

  std::array<std::uint64_t, Words> ranks{};
  std::int32_t index = 0;  // index of the input element
  std::int32_t flaw = unwritten;

  static PlanElement of(Rank rank, std::int64_t i) {
    PlanElement e;
    e.flaw = sound;
    e.index = static_cast<std::int32_t>(i);
    e.include(rank);
    return e;
  }
  void include(Rank rank) { ranks[word(rank)] |= bit(rank); }
  bool holds(Rank rank) const { return (ranks[word(rank)] & bit(rank)) != 0; }
  bool operator==(const PlanElement&) const = default;

  void add(const PlanElement& other) {
    if (flaw != sound) return;
    if (other.flaw != sound) {
      flaw = other.flaw;
      return;
    }
    if (index != other.index) {
      flaw = mixed;
      return;
    }
    for (std::size_t w = 0; w < Words; ++w) {
      if (const std::uint64_t both = ranks[w] & other.ranks[w]; both != 0) {
        flaw = static_cast<std::int32_t>(w * 64) + std::countr_zero(both) + 1;
        return;
      }
      ranks[w] |= other.ranks[w];
    }
  }

 private:
  static std::size_t word(Rank rank) { return static_cast<std::size_t>(rank) / 64; }
  static std::uint64_t bit(Rank rank) { return std::uint64_t{1} << (static_cast<unsigned>(rank) % 64); }
};

}  // namespace pdsim
