// Fingerprint: a rolling 64-bit FNV-1a hash over fixed-width little-endian fields, never over structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim {

class Fingerprint {
 public:
  constexpr void add(std::uint64_t field) {
    for (int i = 0; i < 8; ++i) byte(static_cast<unsigned char>(field >> (8 * i)));
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
  constexpr void byte(unsigned char b) { hash_ = (hash_ ^ b) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// Sixteen hexadecimal digits.
std::string fingerprint_text(std::uint64_t value);

}  // namespace pdsim
