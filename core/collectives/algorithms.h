// THE table of algorithms: one row gives a plan to the runner, the checker, the cost model, the command line
// and the docs.
//
// Adding one: a plan and a row in a file of core/collectives/plans (see family.h there). `auto` takes the first algorithm of a
// collective.
#pragma once

#include "core/base/result.h"
#include "core/collectives/plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

struct PlanCost {
  std::int64_t rounds = 0;         // on the rank with the most rounds that hold a message
  std::int64_t messages = 0;       // in the whole group
  std::int64_t elements_sent = 0;  // by the busiest rank
};

// Rounds that are data, such as a parsed text (text/plan_text.h), for an Algorithm that has no function.
//
//   threads   ranks of a group may call it concurrently
class PlanRounds {
 public:
  virtual ~PlanRounds() = default;
  // Begins the plan of one rank. Where there are no rounds for these ranks and this count, the plan throws at its first next().
  virtual Plan begin(const PlanArgs& args) const = 0;
  virtual std::int64_t scratch(const PlanArgs& args) const = 0;
  // Whether there are rounds for these ranks, this count and this root; proofs skip the cases without any.
  virtual bool is_for(const PlanArgs& args) const = 0;
  // Where round `round` of the rank (from 1) is in the source, as "ring.plan:7:3"; empty where that is not known.
  virtual std::string place(const PlanArgs& args, int round) const = 0;
};

constexpr std::int64_t scratch_throws = INT64_MIN;

struct Algorithm {
  CollectiveKind kind;
  std::string_view name;
  PlanFunction plan;
  std::int64_t (*scratch)(const PlanArgs&) = nullptr;  // elements; null: none
  PlanCost (*closed_form)(const PlanArgs&) = nullptr;  // exact for every size, count and placement, whatever the rank
                                                       // and root; null: not known
  std::string_view formula = {};                       // for people: alpha, beta, gamma
  const PlanRounds* rounds = nullptr;                  // instead of plan and scratch; outlives the row
  bool leaves_scratch = false;  // reduce only: ranks other than the root find their scratch in an output that they pass

  bool has_plan() const { return plan != nullptr || rounds != nullptr; }
  // Calls the row's own functions and turns their exceptions into values: a plan that throws at its first next(), a scratch size
  // of scratch_throws elements, a cost of -1 everywhere.
  Plan begin(const PlanArgs& args) const;
  std::int64_t scratch_elements(const PlanArgs& args) const {
    if (rounds == nullptr && scratch == nullptr) return 0;
    return own_scratch(args);
  }
  // Zero where there is no closed form.
  PlanCost cost(int size, std::int64_t count, int ranks_per_node = 1) const;

 private:
  std::int64_t own_scratch(const PlanArgs& args) const;
};

// Ordered by collective as in collective_table; within one, the row that `auto` takes comes first, then the others by family
// name.
std::span<const Algorithm> algorithms();

// `auto`, `native` and, since no size is known here, `auto:mpich` and the like return the collective's first row. Errors:
// unsupported, which lists the algorithms there are.
Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace pdsim
