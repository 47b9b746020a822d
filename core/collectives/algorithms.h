// THE table of algorithms: one row gives a plan to the runner, the checker, the cost model, the command line
// and the docs.
//
// Adding one: a function in plans.h and a row in algorithms.cpp. The first row of a collective is what `auto` takes.
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

std::span<const Algorithm> algorithms();

// `auto`, `native` and, as no size is known here, `auto:mpich` and the like give the first row of the collective.
// Errors: unsupported, naming what there is.
Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace pdsim
