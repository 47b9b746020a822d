#include "scenarios/language/tables/bind.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace pdsim::scenarios::language {
namespace binding {

void assign(const Key& key, const Node& value, NumberOrWord& out) {
  out.word = std::find(key.choices.begin(), key.choices.end(), value.text) != key.choices.end();
  if (!out.word) read_value(value, out.number);
}

void assign(const Key&, const Node& value, std::vector<std::string>& out) {
  if (!value.is_list()) return;
  out.clear();
  for (const Node& item : value.items) out.push_back(item.text);
}

void assign(const Key&, const Node& value, std::vector<std::int64_t>& out) {
  if (!value.is_list()) return;
  out.clear();
  for (const Node& item : value.items) out.push_back(read_integer(item.text).value_or(0));
}

void assign(const Key&, const Node& value, std::uint64_t& out) {
  std::int64_t number = 0;
  read_value(value, number);
  out = static_cast<std::uint64_t>(number);
}

void assign(const Key&, const Node& value, CallInput& out) {
  out.kind = value.is_list() ? CallInput::Kind::rows : value.text == "ranks" ? CallInput::Kind::ranks : CallInput::Kind::pattern;
  out.rows = read_number_rows(value).value_or(out.rows);
}

std::string written(const std::string& value) { return value; }
std::string written(bool value) { return value ? "true" : "false"; }
std::string written(double value) { return fmt::format("{:g}", value); }
std::string written(std::int64_t value) { return std::to_string(value); }
std::string written(std::uint64_t value) { return std::to_string(value); }
std::string written(Time value) { return to_string(value); }
std::string written(Bytes value) { return to_string(value); }
std::string written(Rate value) { return to_string(value); }
std::string written(const IntSet& value) { return value.is_all() ? "all" : value.text(); }
std::string written(const NumberOrWord& value) { return std::to_string(value.number); }
std::string written(const CallInput&) { return "pattern"; }
std::string written(const std::vector<std::string>& value) {
  return value.empty() ? "" : fmt::format("[{}]", fmt::join(value, ", "));
}
std::string written(const std::vector<std::int64_t>& value) {
  return value.empty() ? "" : fmt::format("[{}]", fmt::join(value, ", "));
}

}  // namespace binding

void read_bound(const Node& map, std::span<const Key> keys, void* options) {
  for (const Entry& entry : map.entries)
    if (const Key* key = find(keys, entry.key); key != nullptr && key->bind.set != nullptr)
      key->bind.set(*key, entry, options);
}

std::string default_of(const Key& key) {
  if (key.required) return "";
  return key.bind.default_text != nullptr ? key.bind.default_text(key) : std::string(key.default_value);
}

}  // namespace pdsim::scenarios::language
