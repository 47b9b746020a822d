#include "scenarios/records/logs/line_text.h"

#include "core/base/printable.h"
#include "core/record/record_check.h"

#include <algorithm>
#include <charconv>

namespace pdsim::scenarios::logs {
namespace {

// Not of ASCII at the cut: no character is split.
std::string_view whole_characters(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

std::optional<std::string_view> text_after(std::string_view line, std::string_view before, std::string_view end_chars) {
  const std::size_t at = line.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + before.size());
  return rest.substr(0, rest.find_first_of(end_chars));
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range) return -1;
  if (read.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_after(std::string_view line, std::string_view before) {
  const std::size_t at = line.find(before);
  return at == std::string_view::npos ? std::nullopt : leading_number(line.substr(at + before.size()));
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  while (numbers.size() < most_listed_numbers) {
    while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc()) break;
    numbers.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  }
  return numbers;
}

std::vector<Rank> ranks_in(std::string_view text) {
  std::vector<Rank> ranks;
  for (const std::int64_t number : numbers_in(text))
    if (number >= 0 && number < most_recorded_ranks) ranks.push_back(static_cast<Rank>(number));
  return ranks;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string clipped(std::string_view text, std::size_t bytes) { return printable(whole_characters(text, bytes)); }

}  // namespace pdsim::scenarios::logs
