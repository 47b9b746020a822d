#include "core/base/result.h"

#include <charconv>

namespace pdsim {

std::string_view fact(const Facts& facts, std::string_view key) {
  for (const Fact& f : facts)
    if (f.key == key) return f.value;
  return {};
}

std::optional<std::int64_t> fact_number(const Facts& facts, std::string_view key) {
  const std::string_view text = fact(facts, key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string> all_facts(const Facts& facts, std::string_view key) {
  std::vector<std::string> values;
  for (const Fact& f : facts)
    if (f.key == key) values.push_back(f.value);
  return values;
}

}  // namespace pdsim
