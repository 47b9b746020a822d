// THE table of algorithms: one row gives a plan to the runner, the checker, the cost model, the command line
// and the docs.
//
// Adding one: a plan and a row in a file of core/collectives/plans, which family.h there explains. The first algorithm of a collective
// is what `auto` takes.
#pragma once

#include "core/base/result.h"
#include "core/collectives/plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdsim {

struct PlanCost {
  std::int64_t rounds = 0;         // of the rank with the most rounds that hold a message
  std::int64_t messages = 0;       // of the whole group
  std::int64_t elements_sent = 0;  // by the busiest rank
};

// Rounds that are data, as those of a text (text/plan_text.h), for an Algorithm that has no function.
//
//   threads   the ranks of a group may ask at the same time
class PlanRounds {
 public:
  virtual ~PlanRounds() = default;
  // A plan for one rank. Where there are no rounds for these ranks and this count, it throws at its first next().
  virtual Plan begin(const PlanArgs& args) const = 0;
  virtual std::int64_t scratch(const PlanArgs& args) const = 0;
  // Whether there are rounds for these ranks, this count and this root; proofs leave out what there are none for.
  virtual bool is_for(const PlanArgs& args) const = 0;
  // Where round `round` of the rank stands, from 1, as "ring.plan:7:3"; empty where that is not known.
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
  bool leaves_scratch = false;  // of a reduce: ranks other than the root find their scratch in an output that they pass

  bool has_plan() const { return plan != nullptr || rounds != nullptr; }
  // Calls the row's own functions, whose exceptions become values: a plan that throws at its first next(), a scratch of
  // scratch_throws elements, a cost of -1 everywhere.
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

// By collective, in the order of collective_table; then what `auto` takes, and the others by the names of their families.
std::span<const Algorithm> algorithms();

// `auto`, `native` and, as no size is known here, `auto:mpich` and the like give the first row of the collective.
// Errors: unsupported, naming what there is.
Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace pdsim
