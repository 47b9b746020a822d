// A plan written as text (docs/plans.md), as an algorithm: it is proven, run, drawn and costed like any other.
//
//   owner    the algorithm refers to the text, which must outlive the calls that use it
//   memory   caches the rounds of the last case asked for, since all its ranks ask one after the other
//   threads  any
#pragma once

#include "core/collectives/algorithms.h"
#include "core/collectives/text/plan_expansion.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

namespace pdsim {

class PlanText final : public PlanRounds {
 public:
  // `file` is the name used in places and messages.
  static std::variant<std::shared_ptr<const PlanText>, PlanProblem> parse(std::string file, std::string text);

  const Algorithm& algorithm() const { return algorithm_; }
  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }

  // Why the text has no rounds for this number of ranks, count and root.
  std::optional<PlanProblem> problem(const PlanArgs& args) const;
  PlanMark header() const { return syntax_.header; }
  // The place of the rank's round, from 1; the header where the rank has no such round.
  PlanMark mark(const PlanArgs& args, int round) const;

  Plan begin(const PlanArgs& args) const override;
  std::int64_t scratch(const PlanArgs& args) const override;
  bool is_for(const PlanArgs& args) const override;
  std::string place(const PlanArgs& args, int round) const override;

 private:
  PlanText(std::string file, std::string text, plan_syntax::Syntax syntax);
  ExpandedPlan expanded(const PlanArgs& args) const;

  std::string file_, text_;
  plan_syntax::Syntax syntax_;
  Algorithm algorithm_;
  struct Kept {
    int size = 0;
    std::int64_t count = 0;
    Rank root = 0;
    ExpandedPlan plan;
  };
  mutable std::mutex guard_;
  mutable std::optional<Kept> kept_;
};

// The rounds of an expanded rank, as a plan, and a plan that throws the problem.
Plan plan_of(std::shared_ptr<const PlanExpansion> rounds, Rank rank);
Plan plan_of(std::string problem);

// "ring.plan:7:3: unknown name `q`".
std::string sentence_of(const std::string& file, const PlanProblem& problem);

}  // namespace pdsim
