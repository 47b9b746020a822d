#include "core/base/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

template <class Name>
std::optional<std::string_view> nearest_of(std::string_view word, std::span<const Name> names) {
  std::optional<std::string_view> best;
  int best_distance = 0;
  for (const std::string_view name : names) {
    const int allowed = std::max(1, static_cast<int>(std::max(word.size(), name.size())) / 3);
    const int distance = edit_distance(word, name);
    if (distance > allowed || (best && distance >= best_distance)) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between prefixes: the last but one, the last, and the one being filled.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> names) {
  return nearest_of(word, names);
}

std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string> names) {
  return nearest_of(word, names);
}

}  // namespace pdsim
