// The names of an enumeration's values: one table each, used for both directions. Strings appear only at the edges: in JSON,
// scenario files and messages.
//
//   template <> inline constexpr auto enum_rows<Outcome> = std::to_array<EnumRow<Outcome>>({{Outcome::ok, "ok"}, ...});
//
//   lookup   by the row's own value, never by its position
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>

namespace pdsim {

template <class E>
struct EnumRow {
  E value;
  std::string_view name;
};

// Specialised where an enumeration is defined: a std::array of EnumRow<E>.
template <class E>
inline constexpr std::nullptr_t enum_rows = nullptr;

template <class E>
concept NamedEnum = std::is_enum_v<E> && !std::is_same_v<std::remove_cv_t<decltype(enum_rows<E>)>, std::nullptr_t>;

// The names alone, in the order of the rows.
template <NamedEnum E>
inline constexpr auto enum_words = [] {
  std::array<std::string_view, enum_rows<E>.size()> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = enum_rows<E>[i].name;
  return words;
}();

// Empty for a value without a row.
template <NamedEnum E>
constexpr std::string_view name_of(E value) {
  for (const EnumRow<E>& row : enum_rows<E>)
    if (row.value == value) return row.name;
  return {};
}

template <NamedEnum E>
constexpr std::optional<E> value_named(std::string_view name) {
  for (const EnumRow<E>& row : enum_rows<E>)
    if (row.name == name) return row.value;
  return std::nullopt;
}

}  // namespace pdsim
