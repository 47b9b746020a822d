// The building blocks of the language's tables, which both the loader's checks and the JSON schema read.
//
//   Key      one key: its value's type, its default, a line of explanation
//   Group    a mapping: its keys; or, with `one_of`, a mapping of exactly one of those keys beside the ordinary ones
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::scenarios::language {

enum class Type : std::uint8_t {
  nothing,      // null
  text,         // any text
  name,         // letters, digits, underscores; not a digit first
  word,         // one of `choices`
  boolean,      // true | false
  integer,      // low .. high; or one of `choices`
  decimal,      // a number, perhaps with a fraction or an exponent, low .. high
  duration,     // 5us
  size,         // 25MiB
  rate,         // 25GB/s
  flops,        // 2.4GFLOP
  flop_rate,    // 19.5TFLOP/s
  drift,        // 20ppm
  int_set,      // 1..3, [0, 2], even ...
  widths,       // [in, out]
  counts,       // [3, 0, 2]
  decimals,     // [0, 10.5]
  rows,         // [[1, 2], [3, 4]]: numbers of each rank; or one of `choices`
  names,        // [a, b]; of `choices` where there are some
  values,       // [3, 0.5, text, null, [1, 2], {rref: label}, {tensor: [1, 2]}]
  shapes,       // [[4096, 25088], [4096]]; or the total number of elements
  rank_groups,  // [[0, 1], [2, 3]]
  group,        // a mapping; or one of `choices`
  groups,       // a list of mappings
  selectors,    // a mapping or a list of them
  operations,   // a list of program entries
  named,        // a mapping from the user's names to values of `element`
  settings,     // a mapping of dotted paths to anything
};

// Properties of an operation or a fault.
enum Trait : std::uint16_t {
  plain = 0,
  collective = 1,       // every rank of the group must call it
  in_train = 2,         // allowed in the `do` of train
  only_in_train = 4,    // allowed nowhere else
  needs_model = 8,      //
  point_to_point = 16,  // has a peer
  hits_messages = 32,   // faults: match takes from, to, op, nth
  hits_ranks = 64,      // faults: match takes rank
  asynchronous = 256,   // returns before it is over; its label is used to wait for it
  as_around = 512,      // its `do` allows what is allowed around the operation itself
  in_join = 128,        // allowed in the `do` of join, like operations allowed in train and elsewhere
};

struct Entry;
struct Group;
struct Key;

// The member of a struct of options that a key sets (bind.h).
struct Binding {
  void (*set)(const Key& key, const Entry& entry, void* options) = nullptr;
  std::string (*default_text)(const Key& key) = nullptr;
};

// The struct whose members the keys of a group set.
struct OptionsType {
  std::any (*make)() = nullptr;
  void* (*address)(std::any& options) = nullptr;
};

struct Key {
  std::string_view name;
  Type type = Type::text;
  std::string_view help;
  std::string_view default_value{};  // the default, as it would be written; empty: none
  bool required = false;
  std::span<const std::string_view> choices{};
  const Group* group = nullptr;
  const Key* element = nullptr;
  std::string_view formerly{};  // its former name: refused, with a hint
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  unsigned traits = plain;
  Binding bind{};  // the member provides the default, instead of `default_value`

  constexpr bool has(unsigned trait) const { return (traits & trait) != 0; }
};

struct Group {
  std::string_view title;  // as messages name it: "world.link"
  std::string_view help;
  std::span<const Key> keys{};
  std::span<const Key> one_of{};
  bool bare = false;              // one_of: the name alone is a value too
  std::string_view noun = "key";  // one_of: the kind of thing its names are
  OptionsType options{};
};

// Creates a key for each row of another table.
template <class Row, std::size_t size>
constexpr std::array<Key, size> rows_of(const std::array<Row, size>& table, Key (*row)(const Row&)) {
  std::array<Key, size> keys{};
  for (std::size_t i = 0; i < size; ++i) keys[i] = row(table[i]);
  return keys;
}

template <std::size_t... sizes>
constexpr auto joined(const std::array<Key, sizes>&... tables) {
  std::array<Key, (sizes + ...)> all{};
  auto end = all.begin();
  ((end = std::copy(tables.begin(), tables.end(), end)), ...);
  return all;
}

// The key that formerly had this name.
constexpr const Key* find_former(std::span<const Key> keys, std::string_view name) {
  for (const Key& key : keys)
    if (!key.formerly.empty() && key.formerly == name) return &key;
  return nullptr;
}

constexpr const Key* find(std::span<const Key> keys, std::string_view name) {
  for (const Key& key : keys)
    if (key.name == name) return &key;
  return nullptr;
}

}  // namespace pdsim::scenarios::language
