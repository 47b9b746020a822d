// "did you mean": the known name that a mistyped one most likely stands for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

// Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
int edit_distance(std::string_view a, std::string_view b);

// The first of `names` at the smallest distance, if that is at most a third of the longer text's length (1 is always allowed).
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string_view> names);
std::optional<std::string_view> nearest(std::string_view word, std::span<const std::string> names);

}  // namespace pdsim
