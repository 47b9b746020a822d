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
  std::int64_t (*scratch)(const PlanArgs&);        // elements
  PlanCost (*cost)(int size, std::int64_t count);  // the closed form, exact for every size and count
  std::string_view formula;                        // for people: alpha, beta, gamma
};

std::span<const Algorithm> algorithms();

// `auto` and `native` give the first row of the collective. Errors: unsupported, naming what there is.
Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace pdsim
