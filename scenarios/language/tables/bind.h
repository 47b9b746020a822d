// Binds a key to a member of a struct: reads the member from the key, and prints its default.
//
//   Key{.name = "count", .type = Type::integer, .bind = to<&CollectiveOptions::count>}
//
// The value is used if it has the shape of the key; otherwise the default stays, because files with errors are read
// too.
#pragma once

#include "core/base/quantity.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/key.h"
#include "scenarios/language/tables/operation_options.h"
#include "scenarios/language/tables/rpc_options.h"

#include <algorithm>
#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pdsim::scenarios::language {

namespace binding {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_located = false;
template <class T>
inline constexpr bool is_located<Located<T>> = true;

void assign(const Key& key, const Node& node, NumberOrWord& out);
void assign(const Key& key, const Node& node, std::vector<std::string>& out);
void assign(const Key& key, const Node& node, std::vector<std::int64_t>& out);
void assign(const Key& key, const Node& node, std::uint64_t& out);
void assign(const Key& key, const Node& node, std::vector<RpcArgument>& out);
void assign(const Key& key, const Node& node, CallInput& out);

std::string written(const std::string& shown);
std::string written(bool shown);
std::string written(double shown);
std::string written(std::int64_t shown);
std::string written(std::uint64_t shown);
std::string written(Time shown);
std::string written(Bytes shown);
std::string written(Rate shown);
std::string written(const IntSet& shown);
std::string written(const NumberOrWord& shown);
std::string written(const CallInput& shown);
std::string written(const std::vector<std::string>& shown);
std::string written(const std::vector<std::int64_t>& shown);
std::string written(const std::vector<RpcArgument>& shown);

template <class T>
void set(const Key& key, const Entry& entry, T& out) {
  if constexpr (is_optional<T>) {
    typename T::value_type present{};
    set(key, entry, present);
    out = std::move(present);
  } else if constexpr (is_located<T>) {
    set(key, entry, out.value);
    out.mark = entry.value.mark;
  } else if constexpr (std::is_enum_v<T>) {
    const auto word = std::find(key.choices.begin(), key.choices.end(), entry.value.text);
    if (word != key.choices.end()) out = static_cast<T>(word - key.choices.begin());
  } else if constexpr (requires { assign(key, entry.value, out); }) {
    assign(key, entry.value, out);
  } else {
    read_value(entry.value, out);
  }
}

template <class T>
std::string text_of(const Key& key, const T& shown) {
  if constexpr (is_optional<T>) {
    return shown ? text_of(key, *shown) : "";
  } else if constexpr (is_located<T>) {
    return text_of(key, shown.value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(key.choices[static_cast<std::size_t>(shown)]);
  } else if constexpr (std::is_same_v<T, int>) {
    return written(std::int64_t{shown});
  } else {
    return written(shown);
  }
}

template <auto member>
struct Bound;
template <class Options, class T, T Options::*member>
struct Bound<member> {
  static void set_it(const Key& key, const Entry& entry, void* options) {
    set(key, entry, static_cast<Options*>(options)->*member);
  }
  static std::string default_text(const Key& key) { return text_of(key, Options{}.*member); }
};

template <class Options>
constexpr Type type_of(bool Options::*) {
  return Type::boolean;
}
template <class Options>
constexpr Type type_of(std::int64_t Options::*) {
  return Type::integer;
}
template <class Options>
constexpr Type type_of(std::uint64_t Options::*) {
  return Type::integer;
}
template <class Options>
constexpr Type type_of(double Options::*) {
  return Type::decimal;
}
template <class Options>
constexpr Type type_of(Bytes Options::*) {
  return Type::size;
}

template <class Options>
struct Erased {
  static std::any make() { return Options{}; }
  static void* address(std::any& options) { return std::any_cast<Options>(&options); }
};

}  // namespace binding

template <auto member>
inline constexpr Binding to{&binding::Bound<member>::set_it, &binding::Bound<member>::default_text};

// The keys for a table of options in core: a tuple of rows with a name, the member, help and a range.
template <const auto& rows, std::size_t i>
constexpr Key key_of_row() {
  constexpr const auto& row = std::get<i>(rows);
  return {.name = row.name,
          .type = binding::type_of(row.member),
          .help = row.help,
          .low = row.range.low,
          .high = row.range.high,
          .bind = to<row.member>};
}
template <const auto& rows>
constexpr auto keys_of() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{key_of_row<rows, i>()...};
  }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(rows)>>>());
}

template <class Options>
inline constexpr OptionsType options_of{&binding::Erased<Options>::make, &binding::Erased<Options>::address};

// The same key for another struct.
constexpr Key bound(Key key, Binding member) {
  key.bind = member;
  return key;
}

// Sets every member whose key is in the mapping.
void read_bound(const Node& map, std::span<const Key> keys, void* options);

// The default of a key as a file would write it; empty: none.
std::string default_of(const Key& key);

}  // namespace pdsim::scenarios::language
