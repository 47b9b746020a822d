// A plan's text expanded for one number of ranks, count and root: the rounds of every rank.
//
//   pairs    `chunk E -> R` is a send on the rank that runs it and a receive on rank R, in the same round of both: rounds are
//            matched by the statement and the iterations of the loops around it
//   limits   2,000,000 steps in all, and most_statements() statements; an excess is a problem at the statement that exceeds the
//            limit
//   cost     O(steps), about 100 bytes each
#pragma once

#include "core/collectives/text/plan_syntax.h"

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace pdsim {

// The rounds of all ranks, one after the other, and the place of each in the text.
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
  std::vector<std::size_t> first_round_;  // by rank, and the total at the end
};

// The statements that one of p ranks may run.
constexpr std::int64_t most_statements(int p) { return 20'000 + std::int64_t{200} * p; }

using ExpandedPlan = std::variant<std::shared_ptr<const PlanExpansion>, PlanProblem>;

// Expands a plan in the form of docs/plans.md; with `alone` only the rounds of the rank of `args`, and pairs are a problem.
// Slices and peers are taken from the text, right or wrong; plan_room.h checks them.
ExpandedPlan expand(const plan_syntax::Syntax& syntax, const PlanArgs& args, bool alone = false);

// Elements of scratch on the rank of `args`; also checks that the plan supports this number of ranks ("needs"). Problems: those
// of the expressions.
std::variant<std::int64_t, PlanProblem> scratch_of(const plan_syntax::Syntax& syntax, const PlanArgs& args);
std::variant<bool, PlanProblem> is_for(const plan_syntax::Syntax& syntax, const PlanArgs& args);

}  // namespace pdsim
