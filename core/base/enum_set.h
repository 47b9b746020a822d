// EnumSet: some of an enumeration's values, at most 32 of them; for tables.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace pdsim {

template <class E>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  constexpr EnumSet(std::initializer_list<E> values) {
    for (const E value : values) bits_ |= bit(value);
  }
  constexpr void add(E value) { bits_ |= bit(value); }
  constexpr bool has(E value) const { return (bits_ & bit(value)) != 0; }
  constexpr EnumSet but() const { return EnumSet(~bits_); }  // all others

 private:
  constexpr explicit EnumSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(E value) { return std::uint32_t{1} << static_cast<unsigned>(value); }
  std::uint32_t bits_ = 0;
};

}  // namespace pdsim
