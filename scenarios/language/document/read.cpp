#include "scenarios/language/document/read.h"

#include <limits>

namespace pdsim::scenarios::language {
namespace {

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

void read_value(const Node& value, std::string& out) {
  if (value.is_scalar()) out = value.text;
}
void read_value(const Node& value, std::int64_t& out) {
  if (value.is_scalar()) out = read_integer(value.text).value_or(out);
}
void read_value(const Node& value, int& out) {
  std::int64_t number = out;
  read_value(value, number);
  if (number <= std::numeric_limits<int>::max()) out = static_cast<int>(number);
}
void read_value(const Node& value, double& out) {
  if (value.is_scalar()) out = read_decimal(value.text).value_or(out);
}
void read_value(const Node& value, bool& out) {
  if (value.is_scalar()) out = read_boolean(value.text).value_or(out);
}
void read_value(const Node& value, Time& out) {
  if (value.is_scalar()) keep(parse_time(value.text), out);
}
void read_value(const Node& value, Bytes& out) {
  if (value.is_scalar()) keep(parse_bytes(value.text), out);
}
void read_value(const Node& value, Rate& out) {
  if (value.is_scalar()) keep(parse_rate(value.text), out);
}
void read_value(const Node& value, Ppm& out) {
  if (value.is_scalar()) keep(parse_ppm(value.text), out);
}
void read_value(const Node& value, Flops& out) {
  if (value.is_scalar()) keep(parse_flops(value.text), out);
}
void read_value(const Node& value, FlopRate& out) {
  if (value.is_scalar()) keep(parse_flop_rate(value.text), out);
}
void read_value(const Node& value, IntSet& out) { out = read_int_set(value).value_or(out); }

}  // namespace pdsim::scenarios::language
