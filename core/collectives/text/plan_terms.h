// Evaluates the expressions of a plan's text.
#pragma once

#include "core/collectives/text/plan_syntax.h"

#include <cstdint>
#include <vector>

namespace pdsim::plan_syntax {

// The values of the variables, and the arithmetic: 64-bit whole numbers, / rounds down, % is never negative, conditions are 0 or
// 1.
class TermValues {
 public:
  TermValues(const Syntax& syntax, const PlanArgs& args);
  // Throws PlanProblem: an overflow or a division by zero.
  std::int64_t of(int term) const;
  void set(int slot, std::int64_t value) { values_[static_cast<std::size_t>(slot)] = value; }
  std::int64_t p() const { return values_[slot_p]; }
  std::int64_t r() const { return values_[slot_r]; }

 private:
  std::int64_t of_two(const Term& term, std::int64_t a, std::int64_t b) const;
  const Syntax& syntax_;
  std::vector<std::int64_t> values_;
};

// The result of `%`: at least 0 and less than `of`, which must be positive.
constexpr std::int64_t wrapped(std::int64_t value, std::int64_t of) {
  const std::int64_t rest = value % of;
  return rest < 0 ? rest + of : rest;
}

}  // namespace pdsim::plan_syntax
