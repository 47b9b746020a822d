// The located tree: a scenario file as nested values that know their place. All of it is plain data.
#pragma once

#include "scenarios/language/document/problems.h"
#include "scenarios/text/located.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {

struct Entry;

struct Node {
  enum class Kind : std::uint8_t { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;  // of a scalar
  bool quoted = false;
  Mark mark{};
  std::vector<Node> items;
  std::vector<Entry> entries;

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }
  const Node* find(std::string_view key) const;  // the first with that name
  Node* find(std::string_view key);
};

struct Entry {
  std::string key;
  Mark mark{};  // of the key
  Node value;
};

// From the key to the end of its value, where both are on one line; else the key.
Mark span_of(const Entry& entry);

// Parses strict YAML: one document; no anchors, aliases, merge keys, tags, duplicate keys, tabs. Null when problems
// leave nothing to check; they are in `problems`.
std::optional<Node> parse(const std::string& text, Problems& problems);

// YAML that parses to the same tree.
std::string emit(const Node& node);
// Prints a value on one line.
std::string emit_inline(const Node& node);

}  // namespace pdsim::scenarios::language
