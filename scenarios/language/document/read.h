// Readers of a document with a valid shape: an absent value leaves the default unchanged.
#pragma once

#include "core/base/enum_names.h"
#include "core/base/quantity.h"
#include "scenarios/language/document/scalars.h"
#include "scenarios/language/document/tree.h"

#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios::language {

const Entry* entry_of(const Node& map, std::string_view key);

void read_value(const Node& node, std::string& out);
void read_value(const Node& node, std::int64_t& out);
void read_value(const Node& node, int& out);
void read_value(const Node& node, double& out);
void read_value(const Node& node, bool& out);
void read_value(const Node& node, Time& out);
void read_value(const Node& node, Bytes& out);
void read_value(const Node& node, Rate& out);
void read_value(const Node& node, Ppm& out);
void read_value(const Node& node, Flops& out);
void read_value(const Node& node, FlopRate& out);
void read_value(const Node& node, IntSet& out);

// A word that is none of the names leaves the value as it is.
template <NamedEnum E>
void read_value(const Node& node, E& out) {
  out = value_named<E>(node.text).value_or(out);
}

template <class T>
void read(const Node& map, std::string_view key, T& out) {
  if (const Node* node = map.find(key)) read_value(*node, out);
}

template <class T>
void read(const Node& map, std::string_view key, std::optional<T>& out) {
  if (map.find(key) == nullptr) return;
  T present{};
  read(map, key, present);
  out = std::move(present);
}

// Includes the place of the value.
template <class T>
void read(const Node& map, std::string_view key, std::optional<Located<T>>& out) {
  const Entry* entry = entry_of(map, key);
  if (entry == nullptr) return;
  Located<T> located;
  read(map, key, located.value);
  located.mark = entry->value.mark;
  out = std::move(located);
}

// Includes the place of key and value.
template <class T>
void read(const Node& map, std::string_view key, Located<T>& out) {
  const Entry* entry = entry_of(map, key);
  if (entry == nullptr) return;
  read(map, key, out.value);
  out.mark = span_of(*entry);
}

}  // namespace pdsim::scenarios::language
