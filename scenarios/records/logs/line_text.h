// Reads numbers and names out of one line of a log.
#pragma once

#include "core/base/types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::logs {

// The text between `before` (its first occurrence) and the nearest of `end_chars`, or the line's end.
std::optional<std::string_view> text_after(std::string_view line, std::string_view before, std::string_view end_chars);
// The number that follows `before`; one that does not fit int64 is -1, as PyTorch prints it for "unknown".
std::optional<std::int64_t> number_after(std::string_view line, std::string_view before);
// The number at the beginning of the text.
std::optional<std::int64_t> leading_number(std::string_view text);
// Reads "0, 1, 2" or "0 1 2": all numbers up to the first other character; at most `most_listed_numbers`.
std::vector<std::int64_t> numbers_in(std::string_view text);
inline constexpr std::size_t most_listed_numbers = 1 << 17;
// The same as ranks; numbers too high for a record are left out.
std::vector<Rank> ranks_in(std::string_view text);
std::string_view trimmed(std::string_view text);
// At most this many bytes, printable.
std::string clipped(std::string_view text, std::size_t bytes = 400);

}  // namespace pdsim::scenarios::logs
