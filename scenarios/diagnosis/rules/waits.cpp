#include "scenarios/diagnosis/rules/waits.h"

#include "scenarios/diagnosis/analysis/wait_circle.h"
#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/outcome.h"

#include <utility>

namespace pdsim::scenarios::diagnoses {

Waits waits_of(const Report& report) {
  if (report.run.deadlocked) return {report.blocked, report.cycle};
  if (report.errors.empty() || !is_timeout(first_cause(report.errors).code)) return {};
  std::vector<BlockedRank> blocked = blocked_ranks(report.run, first_cause(report.errors).at - Time{1}, false);
  std::vector<Rank> cycle = wait_cycle(blocked);
  return {std::move(blocked), std::move(cycle)};
}

}  // namespace pdsim::scenarios::diagnoses
