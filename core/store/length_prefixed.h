// Numbers and texts as bytes, little-endian; a text is its length in 32 bits and then its bytes.
#pragma once

#include "core/base/check.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim {

template <std::unsigned_integral Number>
void put_number(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

inline void put_text(std::string& out, std::string_view text) {
  PDSIM_CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max(), "a text has a length of 32 bits");
  put_number(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// These take their result off the front of `bytes`; nullopt, and nothing is taken, if it is incomplete.
template <std::unsigned_integral Number>
std::optional<Number> take_number(std::string_view& bytes) {
  if (bytes.size() < sizeof(Number)) return std::nullopt;
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    number = static_cast<Number>(
        number | static_cast<Number>(static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i)));
  bytes.remove_prefix(sizeof(Number));
  return number;
}

inline std::optional<std::string_view> take_text(std::string_view& bytes) {
  std::string_view rest = bytes;
  const auto size = take_number<std::uint32_t>(rest);
  if (!size || rest.size() < *size) return std::nullopt;
  const std::string_view text = rest.substr(0, *size);
  rest.remove_prefix(*size);
  bytes = rest;
  return text;
}

}  // namespace pdsim
