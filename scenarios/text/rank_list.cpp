#include "scenarios/text/rank_list.h"

#include "core/base/int_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

// As many runs of consecutive ranks from the front as fit, at least one.
std::string within(const std::vector<Rank>& sorted, std::size_t width, std::size_t taken) {
  std::size_t shown = 0;
  std::string text;
  while (shown < sorted.size()) {
    std::size_t end = shown + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    const std::string run = end - shown > 2 ? fmt::format("{}..{}", sorted[shown], sorted[end - 1])
                            : end - shown == 2 ? fmt::format("{}, {}", sorted[shown], sorted[end - 1])
                                               : std::to_string(sorted[shown]);
    const std::string more = fmt::format(" and {} more", sorted.size() - end);
    const std::string longer = text.empty() ? run : text + ", " + run;
    const bool fits = taken + longer.size() + (end < sorted.size() ? more.size() : 0) <= width;
    if (!text.empty() && !fits) break;
    text = longer;
    shown = end;
  }
  return shown < sorted.size() ? fmt::format("{} and {} more", text, sorted.size() - shown) : text;
}

std::vector<Rank> sorted_set(std::vector<Rank> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

std::string ranks_within(const std::vector<Rank>& ranks, std::size_t width) {
  std::string whole = ranks_text(ranks);
  if (whole.size() <= width) return whole;
  constexpr std::string_view word = "ranks ";
  return std::string(word) + within(sorted_set(ranks), width, word.size());
}

std::string numbers_within(const std::vector<Rank>& ranks, std::size_t width) {
  const std::string whole = ranks_text(ranks);
  const std::string numbers = whole.substr(whole.find(' ') + 1);
  return numbers.size() <= width ? numbers : within(sorted_set(ranks), width, 0);
}

}  // namespace pdsim::scenarios
