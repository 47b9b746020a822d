// A plan's text expanded for one number of ranks, count and root: the rounds of every rank.
//
//   pairs    `chunk E -> R` is a send of the rank that says it and a receive of rank R, in the same round of both: rounds are matched by
//            the statement and the turns of the loops around it
//   limits   2,000,000 steps in all, and statements as most_statements says; more is a problem at the statement that goes over
//   cost     O(steps), about 100 bytes each
#pragma once

#include "core/collectives/text/plan_syntax.h"

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace pdsim {

// The rounds of all ranks, one after the other, and where each stands in the text.
class PlanExpansion {
 public:
  struct Extent {
    std::size_t first = 0, many = 0;  // of steps
    PlanMark at{};
  };

  std::span<const Extent> rounds_of(Rank rank) const;
  std::span<const Step> steps_of(const Extent& round) const { return {steps_.data() + round.first, round.many}; }

 private:
  friend class PlanExpander;
  std::vector<Step> steps_;
  std::vector<Extent> rounds_;
  std::vector<std::size_t> first_round_;  // by rank, and their number at the end
};

// Statements that one rank of p may run.
constexpr std::int64_t most_statements(int p) { return 20'000 + std::int64_t{200} * p; }

using ExpandedPlan = std::variant<std::shared_ptr<const PlanExpansion>, PlanProblem>;

// Of plans in the form of docs/plans.md; with `alone` the rounds of the rank of `args` only, and pairs are a problem. The slices and peers are as the text has them, right or wrong; plan_room.h judges them.
ExpandedPlan expand(const plan_syntax::Syntax& syntax, const PlanArgs& args, bool alone = false);

// Elements of scratch on the rank of `args`, and whether the plan is for so many ranks ("needs"). Problems: of the expressions.
std::variant<std::int64_t, PlanProblem> scratch_of(const plan_syntax::Syntax& syntax, const PlanArgs& args);
std::variant<bool, PlanProblem> is_for(const plan_syntax::Syntax& syntax, const PlanArgs& args);

}  // namespace pdsim
