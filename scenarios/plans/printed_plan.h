// A plan that a program prints: called with p, r, n and the root it prints the rounds of rank r, in the form of docs/plans.md.
//
//   form      the same header, then `round:` blocks or lines of send, receive, copy and add; both sides of a message are printed
//   limits    10 s and 1 MiB a call; it gets no input, and its standard error is dropped
//   memory    caches the output for the last 4,096 cases
//   threads   any
#pragma once

#include "core/collectives/text/plan_text.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

namespace pdsim::scenarios {

// Why the output of a program is not a plan.
struct PrintedProblem {
  PlanProblem problem;
  std::string text;  // what it printed
};

class PrintedPlan final : public PlanRounds {
 public:
  // Calls the program for one rank, to learn its collective and name.
  static std::variant<std::shared_ptr<const PrintedPlan>, PrintedProblem> start(std::string file);

  const Algorithm& algorithm() const { return algorithm_; }
  const std::string& file() const { return file_; }
  // The program's output, and the place of the rank's round in it.
  std::string text(const PlanArgs& args) const;
  PlanMark mark(const PlanArgs& args, int round) const;
  std::optional<PlanProblem> problem(const PlanArgs& args) const;
  // Whether the output for this case is a plan at all: the program ended well, and its lines have the form.
  bool is_plan(const PlanArgs& args) const { return std::holds_alternative<plan_syntax::Syntax>(printed(args)->syntax); }

  Plan begin(const PlanArgs& args) const override;
  std::int64_t scratch(const PlanArgs& args) const override;
  bool is_for(const PlanArgs& args) const override;
  std::string place(const PlanArgs& args, int round) const override;

 private:
  struct Printed {
    std::string text;
    std::variant<plan_syntax::Syntax, PlanProblem> syntax;
  };
  using Case = std::array<std::int64_t, 4>;
  explicit PrintedPlan(std::string file) : file_(std::move(file)) {}
  std::shared_ptr<const Printed> printed(const PlanArgs& args) const;

  std::string file_, name_;
  Algorithm algorithm_{};
  mutable std::mutex guard_;
  mutable std::map<Case, std::shared_ptr<const Printed>> kept_;
};

}  // namespace pdsim::scenarios
