#include "scenarios/engine/language/read.h"

#include <limits>

namespace pdsim::scenarios::language {
namespace {

const Node* scalar(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  return node != nullptr && node->is_scalar() ? node : nullptr;
}

template <class T>
void keep(const Result<T>& parsed, T& out) {
  if (parsed.ok()) out = parsed.value();
}

}  // namespace

const Entry* entry_of(const Node& map, std::string_view key) {
  for (const Entry& entry : map.entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

void read(const Node& map, std::string_view key, std::string& out) {
  if (const Node* node = scalar(map, key)) out = node->text;
}
void read(const Node& map, std::string_view key, std::int64_t& out) {
  if (const Node* node = scalar(map, key)) out = read_integer(node->text).value_or(out);
}
void read(const Node& map, std::string_view key, int& out) {
  std::int64_t value = out;
  read(map, key, value);
  if (value <= std::numeric_limits<int>::max()) out = static_cast<int>(value);
}
void read(const Node& map, std::string_view key, double& out) {
  if (const Node* node = scalar(map, key)) out = read_decimal(node->text).value_or(out);
}
void read(const Node& map, std::string_view key, bool& out) {
  if (const Node* node = scalar(map, key)) out = read_boolean(node->text).value_or(out);
}
void read(const Node& map, std::string_view key, Time& out) {
  if (const Node* node = scalar(map, key)) keep(parse_time(node->text), out);
}
void read(const Node& map, std::string_view key, Bytes& out) {
  if (const Node* node = scalar(map, key)) keep(parse_bytes(node->text), out);
}
void read(const Node& map, std::string_view key, Rate& out) {
  if (const Node* node = scalar(map, key)) keep(parse_rate(node->text), out);
}
void read(const Node& map, std::string_view key, Ppm& out) {
  if (const Node* node = scalar(map, key)) keep(parse_ppm(node->text), out);
}
void read(const Node& map, std::string_view key, Flops& out) {
  if (const Node* node = scalar(map, key)) keep(parse_flops(node->text), out);
}
void read(const Node& map, std::string_view key, FlopRate& out) {
  if (const Node* node = scalar(map, key)) keep(parse_flop_rate(node->text), out);
}
void read(const Node& map, std::string_view key, IntSet& out) {
  if (const Node* node = map.find(key)) out = read_int_set(*node).value_or(out);
}

}  // namespace pdsim::scenarios::language
