#include "core/base/errors.h"

#include "core/base/result.h"

#include <charconv>

namespace pdsim {
namespace {
constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < error_table.size(); ++i)
    if (static_cast<std::size_t>(error_table[i].code) != i) return false;
  return true;
}
static_assert(rows_are_in_order(), "error_table must list the codes in the order of the enumeration");
}  // namespace

std::optional<Code> code_named(std::string_view name) {
  for (const ErrorRow& r : error_table)
    if (r.name == name) return r.code;
  return std::nullopt;
}

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
