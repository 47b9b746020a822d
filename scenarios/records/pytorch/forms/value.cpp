#include "scenarios/records/pytorch/forms/value.h"

#include <algorithm>

namespace pdsim::scenarios::pytorch {

void Tree::append(Items& to, std::span<const NodeId> more) {
  const std::size_t wanted = to.size + more.size();
  if (wanted > to.capacity) {
    const bool is_last = std::size_t{to.begin} + to.capacity == items.size();
    const std::size_t capacity = to.size == 0 ? wanted : std::max(wanted, 2 * std::size_t{to.capacity});
    if (!is_last) {
      const std::size_t begin = items.size();
      items.resize(begin + to.size);
      std::copy_n(items.begin() + to.begin, to.size, items.begin() + static_cast<std::ptrdiff_t>(begin));
      to.begin = static_cast<std::uint32_t>(begin);
    }
    items.resize(to.begin + capacity);
    to.capacity = static_cast<std::uint32_t>(capacity);
  }
  std::copy(more.begin(), more.end(), items.begin() + to.begin + to.size);
  to.size = static_cast<std::uint32_t>(wanted);
}

std::optional<std::string_view> Value::text() const {
  const std::string_view* value = std::get_if<std::string_view>(&node());
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<bool> Value::truth() const {
  const bool* value = std::get_if<bool>(&node());
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  const std::int64_t* value = std::get_if<std::int64_t>(&node());
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<std::span<const NodeId>> Value::list() const {
  const List* value = std::get_if<List>(&node());
  return value != nullptr ? std::optional(tree_->of(*value)) : std::nullopt;
}

std::optional<std::span<const NodeId>> Value::dict() const {
  const Dict* value = std::get_if<Dict>(&node());
  return value != nullptr ? std::optional(tree_->of(*value)) : std::nullopt;
}

std::optional<Value> Value::find(std::string_view key) const {
  const auto entries = dict();
  if (!entries) return std::nullopt;
  for (std::size_t i = entries->size(); i >= 2; i -= 2)
    if (at((*entries)[i - 2]).text() == key) return at((*entries)[i - 1]);
  return std::nullopt;
}

std::string Value::kind() const {
  constexpr const char* names[] = {"nothing", "a truth value", "an integer",  "a real number",
                                   "a text",  "a list",        "a dictionary"};
  return names[node().index()];
}

}  // namespace pdsim::scenarios::pytorch
