// Fingerprint: a rolling 64-bit FNV-1a hash over fixed-width little-endian fields, never over structs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim {

class Fingerprint {
 public:
  constexpr void add(std::uint64_t field) {
    std::size_t left = 8;
    for (; field != 0; field >>= 8, --left) byte(static_cast<unsigned char>(field));
    hash_ *= powers[left];  // what so many bytes of zero do
  }
  constexpr void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    add(text.size());
  }
  void add(const std::byte* data, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) byte(static_cast<unsigned char>(data[i]));
    add(size);
  }
  constexpr std::uint64_t value() const { return hash_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3ULL;
  static constexpr std::array<std::uint64_t, 9> powers = [] {
    std::array<std::uint64_t, 9> result{1};
    for (std::size_t i = 1; i < result.size(); ++i) result[i] = result[i - 1] * prime;
    return result;
  }();
  constexpr void byte(unsigned char b) { hash_ = (hash_ ^ b) * prime; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Sixteen hexadecimal digits.
std::string fingerprint_text(std::uint64_t value);

}  // namespace pdsim
