#include "core/store/store_errors.h"

#include "core/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace pdsim {
namespace {

std::string_view last_part(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

// A key that differs only in its prefix is what people most often meant; else the nearest spelling, of keys that people write.
std::optional<std::string_view> meant(std::string_view key, std::span<const std::string> present) {
  for (const std::string& other : present)
    if (!last_part(key).empty() && last_part(other) == last_part(key)) return other;
  constexpr std::size_t longest = 128;
  if (key.size() > longest) return std::nullopt;
  std::vector<std::string_view> short_enough;
  for (const std::string& other : present)
    if (other.size() <= longest) short_enough.push_back(other);
  return nearest(key, short_enough);
}

std::string listed(std::span<const std::string> keys) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < keys.size() && i < most; ++i)
    text += fmt::format("{}`{}`", i == 0 ? "" : ", ", shown(keys[i], 80));
  if (keys.size() > most) text += fmt::format(" and {} more", keys.size() - most);
  return text;
}

}  // namespace

Error key_timeout(std::span<const std::string> missing, Time timeout, std::span<const std::string> present) {
  Error error{Code::store_timeout,
              fmt::format("{} {} not set in the store within {}", listed(missing), missing.size() == 1 ? "was" : "were",
                          to_string(timeout)),
              {{"timeout", to_string(timeout)}, {"keys_present", std::to_string(present.size())}}};
  constexpr std::size_t most_facts = 64;
  for (const std::string& key : missing.first(std::min(missing.size(), most_facts)))
    error.facts.push_back({"key", shown(key, 1024)});
  if (missing.empty()) return error;
  if (const auto other = meant(missing.front(), present)) {
    error.facts.push_back({"nearest_key", shown(*other, 1024)});
    error.message += fmt::format("; the nearest key that is set is `{}`", shown(*other, 80));
  } else {
    error.message += present.empty() ? "; the store is empty" : fmt::format("; {} other keys are set", present.size());
  }
  return error;
}

Result<std::int64_t> add_to_decimal(std::string_view key, std::string_view text, std::int64_t delta) {
  std::int64_t value = 0;
  if (!text.empty()) {
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size())
      return Error{
          Code::invalid_argument,
          fmt::format("add to key `{}`, which holds `{}` and not a decimal number", shown(key, 80), shown(text)),
          {{"key", shown(key, 1024)}}};
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(value, delta, &sum))
    return Error{Code::invalid_argument,
                 fmt::format("add of {} to key `{}`, which holds {}, leaves 64 bits", delta, shown(key, 80), value),
                 {{"key", shown(key, 1024)}}};
  return sum;
}

std::string shown(std::string_view bytes, std::size_t most) {
  std::string text;
  for (const char c : bytes.substr(0, most)) {
    if (c >= ' ' && c <= '~')
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return bytes.size() > most ? text + "..." : text;
}

}  // namespace pdsim
