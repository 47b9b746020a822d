#include "core/collectives/text/plan_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace pdsim::plan_syntax {
namespace {

[[noreturn]] void overflow(const Term& term) {
  throw PlanProblem{term.at, "the number does not fit in 64 bits", "too large"};
}

std::int64_t shifted(const Term& term, std::int64_t a, std::int64_t b) {
  if (b < 0 || b > 62) throw PlanProblem{term.at, fmt::format("a shift by {}", b), "0 to 62 are possible"};
  if (term.what == Operator::shift_right) return a >> b;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, std::int64_t{1} << b, &result)) overflow(term);
  return result;
}

std::int64_t divided(const Term& term, std::int64_t a, std::int64_t b) {
  if (b == 0) throw PlanProblem{term.at, "a division by 0", "the divisor is 0 here"};
  if (b == -1) return term.what == Operator::modulo ? 0 : a == INT64_MIN ? (overflow(term), 0) : -a;
  const std::int64_t rest = a % b;
  if (term.what == Operator::modulo) return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  return a / b - (rest != 0 && (rest < 0) != (b < 0) ? 1 : 0);
}

std::int64_t logarithm(const Term& term, std::int64_t a) {
  if (a < 1) throw PlanProblem{term.at, fmt::format("a logarithm of {}", a), "only for 1 and more"};
  const auto bits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(a)));
  if (term.what == Operator::log2) return bits - 1;
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(a - 1)));
}

}  // namespace

TermValues::TermValues(const Syntax& syntax, const PlanArgs& args)
    : syntax_(syntax), values_(static_cast<std::size_t>(syntax.variables), 0) {
  values_[slot_p] = args.size;
  values_[slot_r] = args.rank;
  values_[slot_n] = args.count;
  values_[slot_root] = args.root;
}

std::int64_t TermValues::of(int index) const {
  const Term& term = syntax_.terms[static_cast<std::size_t>(index)];
  switch (term.what) {
    case Operator::number:
      return term.number;
    case Operator::variable:
      return values_[static_cast<std::size_t>(term.number)];
    case Operator::both:
      return of(term.left) != 0 && of(term.right) != 0 ? 1 : 0;
    case Operator::either:
      return of(term.left) != 0 || of(term.right) != 0 ? 1 : 0;
    case Operator::invert:
      return of(term.left) == 0 ? 1 : 0;
    case Operator::log2:
    case Operator::ceil_log2:
      return logarithm(term, of(term.left));
    case Operator::negate:
      return of_two(term, 0, of(term.left));
    default:
      return of_two(term, of(term.left), of(term.right));
  }
}

std::int64_t TermValues::of_two(const Term& term, std::int64_t a, std::int64_t b) const {
  std::int64_t result = 0;
  switch (term.what) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) overflow(term);
      return result;
    case Operator::negate:
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) overflow(term);
      return result;
    case Operator::multiply:
      if (__builtin_mul_overflow(a, b, &result)) overflow(term);
      return result;
    case Operator::divide:
    case Operator::modulo:
      return divided(term, a, b);
    case Operator::bit_and:
      return a & b;
    case Operator::bit_or:
      return a | b;
    case Operator::bit_xor:
      return a ^ b;
    case Operator::shift_left:
    case Operator::shift_right:
      return shifted(term, a, b);
    case Operator::equal:
      return a == b ? 1 : 0;
    case Operator::unequal:
      return a != b ? 1 : 0;
    case Operator::less:
      return a < b ? 1 : 0;
    case Operator::at_most:
      return a <= b ? 1 : 0;
    case Operator::more:
      return a > b ? 1 : 0;
    case Operator::at_least:
      return a >= b ? 1 : 0;
    case Operator::least:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

}  // namespace pdsim::plan_syntax
