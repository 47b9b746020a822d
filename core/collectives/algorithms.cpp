#include "core/collectives/algorithms.h"

#include "core/collectives/plans/family.h"
#include "core/collectives/tuning/tuning.h"

#include <fmt/format.h>

#include <exception>
#include <vector>

namespace pdsim {
namespace {

// A row for each collective of each of the families' rows: by collective, what `auto` takes first, and then by family.
std::vector<Algorithm> rows_of_families() {
  std::vector<Algorithm> all;
  for (const CollectiveRow& collective : collective_table)
    for (const bool automatic : {true, false})
      for (const AlgorithmFamily family : algorithm_families())
        for (const AlgorithmRow& r : family())
          if (r.automatic == automatic && r.kinds.has(collective.kind))
            all.push_back({collective.kind, r.name, r.plan, r.scratch, r.closed_form, r.formula, nullptr, r.leaves_scratch});
  return all;
}

Plan throws_when_begun(std::exception_ptr thrown) {
  std::rethrow_exception(thrown);
  co_return;
}

Error no_algorithm(CollectiveKind kind, std::string_view name) {
  std::string known;
  for (const Algorithm& row : algorithms())
    if (row.kind == kind) known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  return Error{Code::unsupported,
               fmt::format("{} has no algorithm `{}`; there is {}", name_of(kind), name, known),
               {{"algorithm", std::string(name)}, {"collective", std::string(name_of(kind))}}};
}

}  // namespace

Plan Algorithm::begin(const PlanArgs& args) const {
  try {
    return rounds != nullptr ? rounds->begin(args) : plan(args);
  } catch (...) {
    return throws_when_begun(std::current_exception());
  }
}

std::int64_t Algorithm::own_scratch(const PlanArgs& args) const {
  try {
    return rounds != nullptr ? rounds->scratch(args) : scratch(args);
  } catch (...) {
    return scratch_throws;
  }
}

PlanCost Algorithm::cost(int size, std::int64_t count, int ranks_per_node) const {
  const PlanArgs args{0, size, count, 0, nullptr, ranks_per_node};
  try {
    return closed_form == nullptr ? PlanCost{} : closed_form(args);
  } catch (...) {
    return {-1, -1, -1};
  }
}

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> rows = rows_of_families();
  return rows;
}

Result<const Algorithm*> find_algorithm(CollectiveKind kind, std::string_view name) {
  for (const Algorithm& row : algorithms())
    if (row.kind == kind && (name == row.name || name == "auto" || name == "native")) return &row;
  for (const Tuning& tuning : tunings())
    if (name == tuning.algorithm) return find_algorithm(kind, "auto");
  return no_algorithm(kind, name);
}

}  // namespace pdsim
