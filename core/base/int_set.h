// Integer sets of selectors: 3 | [0, 2] | 1..3 | 2.. | ..3 | even | odd | all | not 0.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class IntSet {
 public:
  static IntSet all() { return {}; }
  static IntSet of(std::vector<std::int64_t> values);
  static IntSet range(std::int64_t first, std::int64_t last);  // inclusive
  static Result<IntSet> parse(std::string_view text);          // one scalar of the language
  bool contains(std::int64_t n) const;
  bool is_all() const { return kind_ == Kind::all; }
  bool operator==(const IntSet&) const = default;
  std::string text() const;  // spelled as a user would write it
  // The numbers in its spelling, ascending: 1 and 3 for 1..3, 0 for `not 0`; open ends are left out.
  std::vector<std::int64_t> named() const;

 private:
  enum class Kind : std::uint8_t { all, list, range, even, odd, excluded };
  Kind kind_ = Kind::all;
  std::vector<std::int64_t> values_;  // list: sorted; range: first, last; excluded: the values that are not in it
};

// "ranks 1..3", "rank 0", "ranks 0, 2": never a list of 1,024 numbers.
std::string ranks_text(std::vector<int> ranks);

}  // namespace pdsim
