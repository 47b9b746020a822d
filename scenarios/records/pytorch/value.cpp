#include "scenarios/records/pytorch/value.h"

namespace pdsim::scenarios::pytorch {

std::optional<bool> Value::truth() const {
  const bool* value = std::get_if<bool>(&node());
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  const std::int64_t* value = std::get_if<std::int64_t>(&node());
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<Value> Value::find(std::string_view key) const {
  const Dict* entries = dict();
  if (entries == nullptr) return std::nullopt;
  for (std::size_t i = entries->items.size(); i >= 2; i -= 2) {
    const std::string* name = at(entries->items[i - 2]).text();
    if (name != nullptr && *name == key) return at(entries->items[i - 1]);
  }
  return std::nullopt;
}

std::string Value::kind() const {
  constexpr const char* names[] = {"nothing", "a truth value", "an integer",  "a real number",
                                   "a text",  "a list",        "a dictionary"};
  return names[node().index()];
}

}  // namespace pdsim::scenarios::pytorch
