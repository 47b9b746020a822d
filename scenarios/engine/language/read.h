// Readers of a document whose shape is right: what is absent leaves the default as it is.
#pragma once

#include "core/base/flops.h"
#include "core/base/quantity.h"
#include "scenarios/engine/language/scalars.h"
#include "scenarios/engine/language/tree.h"

#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios::language {

const Entry* entry_of(const Node& map, std::string_view key);

void read(const Node& map, std::string_view key, std::string& out);
void read(const Node& map, std::string_view key, std::int64_t& out);
void read(const Node& map, std::string_view key, int& out);
void read(const Node& map, std::string_view key, double& out);
void read(const Node& map, std::string_view key, bool& out);
void read(const Node& map, std::string_view key, Time& out);
void read(const Node& map, std::string_view key, Bytes& out);
void read(const Node& map, std::string_view key, Rate& out);
void read(const Node& map, std::string_view key, Ppm& out);
void read(const Node& map, std::string_view key, Flops& out);
void read(const Node& map, std::string_view key, FlopRate& out);
void read(const Node& map, std::string_view key, IntSet& out);

template <class T>
void read(const Node& map, std::string_view key, std::optional<T>& out) {
  if (map.find(key) == nullptr) return;
  T value{};
  read(map, key, value);
  out = std::move(value);
}

// With the place of the value.
template <class T>
void read(const Node& map, std::string_view key, std::optional<Located<T>>& out) {
  const Entry* entry = entry_of(map, key);
  if (entry == nullptr) return;
  Located<T> located;
  read(map, key, located.value);
  located.mark = entry->value.mark;
  out = std::move(located);
}

// With the place of key and value.
template <class T>
void read(const Node& map, std::string_view key, Located<T>& out) {
  const Entry* entry = entry_of(map, key);
  if (entry == nullptr) return;
  read(map, key, out.value);
  out.mark = span_of(*entry);
}

}  // namespace pdsim::scenarios::language
