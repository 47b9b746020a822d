// Scalars of the language, read from their text. YAML's own rules for numbers and booleans do not apply.
#pragma once

#include "core/base/int_set.h"
#include "scenarios/language/document/tree.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {

std::optional<std::int64_t> read_integer(std::string_view text);  // no sign, no leading zero, no 1e3, no 1_000
std::optional<double> read_decimal(std::string_view text);        // 0.25, 3, 1e-6, -0.5
std::optional<bool> read_boolean(std::string_view text);          // true | false
bool is_name(std::string_view text);

// Whether YAML reads the unquoted text as a boolean or a null, so that editors do not see a name there.
bool is_yaml_literal(std::string_view text);
std::optional<IntSet> read_int_set(const Node& node);
std::optional<std::vector<std::vector<int>>> read_rank_groups(const Node& node);
std::optional<std::vector<double>> read_numbers(const Node& node);                    // [0, 10.5]; [] too
std::optional<std::vector<std::vector<double>>> read_number_rows(const Node& node);  // [[1, 2], [3]]; not []

// Reads [[4096, 25088], [4096]], or a number of elements, which is the shape of one tensor. Null also for more than
// `limits::sized_elements` elements in all.
std::optional<std::vector<std::vector<std::int64_t>>> read_shapes(const Node& node);

// "`a`, `b` or `c`"; long lists end in "..."
std::string alternatives(const std::vector<std::string_view>& words);
// "did you mean `x`?", or the list of valid words.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& words, std::string_view there_are);

}  // namespace pdsim::scenarios::language
