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
#include <string_view>

namespace pdsim {

struct PlanCost {
  std::int64_t rounds = 0;         // of the rank with the most rounds that hold a message
  std::int64_t messages = 0;       // of the whole group
  std::int64_t elements_sent = 0;  // by the busiest rank
};

struct Algorithm {
  CollectiveKind kind;
  std::string_view name;
  PlanFunction plan;
  std::int64_t (*scratch)(const PlanArgs&) = nullptr;  // elements; null: none
  PlanCost (*closed_form)(const PlanArgs&) = nullptr;  // exact for every size, count and placement, whatever the rank
                                                       // and root; null: not known
  std::string_view formula = {};                       // for people: alpha, beta, gamma

  std::int64_t scratch_elements(const PlanArgs& args) const { return scratch == nullptr ? 0 : scratch(args); }
  // Zero where there is no closed form.
  PlanCost cost(int size, std::int64_t count, int ranks_per_node = 1) const {
    const PlanArgs args{0, size, count, 0, nullptr, ranks_per_node};
    return closed_form == nullptr ? PlanCost{} : closed_form(args);
  }
};

// By collective, in the order of collective_table; then what `auto` takes, and the others by the names of their families.
std::span<const Algorithm> algorithms();

// `auto`, `native` and, as no size is known here, `auto:mpich` and the like give the first row of the collective.
// Errors: unsupported, naming what there is.
Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace pdsim
