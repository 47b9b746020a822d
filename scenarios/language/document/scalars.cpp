#include "scenarios/language/document/scalars.h"

#include "core/base/nearest.h"
#include "scenarios/language/check/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace pdsim::scenarios::language {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<std::int64_t> read_integer(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> read_decimal(std::string_view text) {
  const std::string_view digits = text.substr(!text.empty() && text[0] == '-' ? 1 : 0);
  if (digits.empty() || !is_digit(digits[0])) return std::nullopt;
  if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<bool> read_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

bool is_name(std::string_view text) {
  const auto part = [](char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && text.size() <= 100 && !is_digit(text[0]) && std::all_of(text.begin(), text.end(), part);
}

bool is_yaml_literal(std::string_view text) {
  constexpr std::array<std::string_view, 9> literals{"true",  "True", "TRUE", "false", "False",
                                                     "FALSE", "null", "Null", "NULL"};
  return std::find(literals.begin(), literals.end(), text) != literals.end();
}

std::optional<IntSet> read_int_set(const Node& node) {
  if (node.is_scalar()) {
    const Result<IntSet> set = IntSet::parse(node.text);
    return set.ok() ? std::optional(set.value()) : std::nullopt;
  }
  if (!node.is_list() || node.items.empty()) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Node& item : node.items) {
    const auto value = item.is_scalar() && !item.quoted ? read_integer(item.text) : std::nullopt;
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return IntSet::of(std::move(values));
}

std::optional<std::vector<std::vector<int>>> read_rank_groups(const Node& node) {
  if (!node.is_list() || node.items.empty()) return std::nullopt;
  std::vector<std::vector<int>> groups;
  for (const Node& item : node.items) {
    if (!item.is_list() || item.items.empty()) return std::nullopt;
    std::vector<int> group;
    for (const Node& rank : item.items) {
      const auto value = rank.is_scalar() && !rank.quoted ? read_integer(rank.text) : std::nullopt;
      if (!value || *value > std::numeric_limits<int>::max()) return std::nullopt;
      group.push_back(static_cast<int>(*value));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::optional<std::vector<double>> read_numbers(const Node& node) {
  if (!node.is_list()) return std::nullopt;
  std::vector<double> numbers;
  for (const Node& item : node.items) {
    const auto value = item.is_scalar() && !item.quoted ? read_decimal(item.text) : std::nullopt;
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

std::optional<std::vector<std::vector<double>>> read_number_rows(const Node& node) {
  if (!node.is_list() || node.items.empty()) return std::nullopt;
  std::vector<std::vector<double>> rows;
  for (const Node& item : node.items) {
    auto row = read_numbers(item);
    if (!row) return std::nullopt;
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::optional<std::vector<std::vector<std::int64_t>>> read_shapes(const Node& node) {
  std::vector<std::vector<std::int64_t>> shapes;
  if (!node.is_scalar() && !node.is_list()) return std::nullopt;
  if (const auto elements = node.is_scalar() && !node.quoted ? read_integer(node.text) : std::nullopt)
    shapes.push_back({*elements});
  if (node.is_scalar() && shapes.empty()) return std::nullopt;
  for (const Node& item : node.items) {
    if (!item.is_list()) return std::nullopt;
    std::vector<std::int64_t> shape;
    for (const Node& side : item.items) {
      const auto size = side.is_scalar() && !side.quoted ? read_integer(side.text) : std::nullopt;
      if (!size) return std::nullopt;
      shape.push_back(*size);
    }
    shapes.push_back(std::move(shape));
  }
  std::int64_t total = 0;
  for (const std::vector<std::int64_t>& shape : shapes) {
    std::int64_t elements = 1;
    for (const std::int64_t side : shape)
      if (__builtin_mul_overflow(elements, side, &elements)) return std::nullopt;
    if (__builtin_add_overflow(total, elements, &total) || total > limits::sized_elements) return std::nullopt;
  }
  return shapes;
}

std::string alternatives(const std::vector<std::string_view>& words) {
  constexpr std::size_t most = 12;
  std::string out;
  const std::size_t shown = std::min(words.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += fmt::format("`{}`", words[i]);
  }
  return words.size() > most ? out + " ..." : out;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& words, std::string_view there_are) {
  if (word.size() <= 100)
    if (const auto best = nearest(word, std::span<const std::string_view>(words)))
      return fmt::format("did you mean `{}`?", *best);
  if (words.empty()) return "there are none";
  const auto begins = [&](std::string_view w) { return !word.empty() && w.substr(0, word.size()) == word; };
  if (std::count_if(words.begin(), words.end(), begins) == 1)
    return fmt::format("did you mean `{}`?", *std::find_if(words.begin(), words.end(), begins));
  return fmt::format("{} {}", there_are, alternatives(words));
}

}  // namespace pdsim::scenarios::language
