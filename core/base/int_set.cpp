#include "core/base/int_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace pdsim {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> plain_integer(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  if (text[0] < '0' || text[0] > '9') return std::nullopt;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

IntSet IntSet::of(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  IntSet set;
  set.kind_ = Kind::list;
  set.values_ = std::move(values);
  return set;
}

IntSet IntSet::range(std::int64_t first, std::int64_t last) {
  IntSet set;
  set.kind_ = Kind::range;
  set.values_ = {first, last};
  return set;
}

Result<IntSet> IntSet::parse(std::string_view text) {
  const Error wrong{Code::input_invalid,
                    fmt::format("`{}` is not a set of integers", text),
                    {{"help", "write 3, [0, 2], 1..3, 2.., ..3, even, odd, all or not 0"}}};
  IntSet set;
  if (text == "all") return set;
  if (text == "even" || text == "odd") {
    set.kind_ = text == "even" ? Kind::even : Kind::odd;
    return set;
  }
  if (text.substr(0, 4) == "not ") {
    const auto value = plain_integer(text.substr(4));
    if (!value) return wrong;
    set.kind_ = Kind::excluded;
    set.values_ = {*value};
    return set;
  }
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const std::string_view left = text.substr(0, dots);
    const std::string_view right = text.substr(dots + 2);
    const auto first = left.empty() ? std::optional(lowest) : plain_integer(left);
    const auto last = right.empty() ? std::optional(highest) : plain_integer(right);
    if (!first || !last || (left.empty() && right.empty()) || *first > *last) return wrong;
    return range(*first, *last);
  }
  const auto value = plain_integer(text);
  if (!value) return wrong;
  return of({*value});
}

std::vector<std::int64_t> IntSet::named() const {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t value : values_)
    if (value != lowest && value != highest) numbers.push_back(value);
  return numbers;
}

bool IntSet::contains(std::int64_t n) const {
  switch (kind_) {
    case Kind::all:
      return true;
    case Kind::list:
      return std::binary_search(values_.begin(), values_.end(), n);
    case Kind::range:
      return values_[0] <= n && n <= values_[1];
    case Kind::even:
      return n % 2 == 0;
    case Kind::odd:
      return n % 2 != 0;
    case Kind::excluded:
      return n != values_[0];
  }
  return false;
}

std::string IntSet::text() const {
  switch (kind_) {
    case Kind::all:
      return "all";
    case Kind::even:
      return "even";
    case Kind::odd:
      return "odd";
    case Kind::excluded:
      return fmt::format("not {}", values_[0]);
    case Kind::range:
      return (values_[0] == lowest ? "" : std::to_string(values_[0])) + ".." +
             (values_[1] == highest ? "" : std::to_string(values_[1]));
    case Kind::list:
      break;
  }
  if (values_.size() == 1) return std::to_string(values_[0]);
  return fmt::format("[{}]", fmt::join(values_, ", "));
}

std::string ranks_text(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (!text.empty()) text += ", ";
    if (j - i >= 2) {
      text += fmt::format("{}..{}", ranks[i], ranks[j]);
    } else {
      text += std::to_string(ranks[i]);
      if (j > i) text += fmt::format(", {}", ranks[j]);
    }
    i = j + 1;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

}  // namespace pdsim
