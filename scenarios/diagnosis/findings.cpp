#include "scenarios/diagnosis/findings.h"

#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios {
namespace {

std::vector<Rank> cycle_of(const Report& report, const Hang& hang) {
  std::vector<BlockedRank> part;
  for (const Rank rank : hang.ends)
    if (const BlockedRank* b = blocked_at(report.blocked, rank)) part.push_back(*b);
  return wait_cycle(part);
}

bool is_known(const std::vector<Diagnosis>& findings, const Diagnosis& found) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Diagnosis& d) { return d.id == found.id && d.ranks == found.ranks; });
}

// A hang is explained in a walk over all ranks; of tens of thousands of each the oldest tell what there is to tell.
std::size_t most_explained(const Report& report) {
  constexpr std::size_t most_steps = 1 << 20, least = 32;
  return std::max(least, most_steps / std::max<std::size_t>(report.run.ranks.size(), 1));
}

void explain_hangs(Report& report) {
  const std::size_t most = most_explained(report);
  report.unexplained_hangs = report.hangs.size() - std::min(report.hangs.size(), most);
  report.hangs.resize(report.hangs.size() - report.unexplained_hangs);
  const std::optional<Divergence> divergence = report.divergence;
  for (const Hang& hang : report.hangs) {
    report.hang = hang;
    report.cycle = hang.end == HangEnd::circle ? cycle_of(report, hang) : std::vector<Rank>{};
    std::optional<Diagnosis> found = diagnose(report);
    if (found && is_known(report.findings, *found)) {  // what went apart is told; this hang may have an end of its own
      report.divergence = std::nullopt;
      found = diagnose(report);
    }
    if (!found || is_known(report.findings, *found)) continue;
    report.findings.push_back(std::move(*found));
  }
  report.divergence = divergence;
  report.hang = report.hangs.front();
  report.cycle = report.hang->end == HangEnd::circle ? cycle_of(report, *report.hang) : std::vector<Rank>{};
}

}  // namespace

void find_all(Report& report) {
  if (report.world.is_dumps() && report.run.deadlocked) {
    report.hangs = hangs_of(report.run, report.blocked);
    if (!report.hangs.empty()) return explain_hangs(report);
    report.run.deadlocked = false;
    report.outcome = outcome_of(report.run, report.errors);
    report.blocked.clear();
    report.cycle.clear();
  }
  if (std::optional<Diagnosis> found = diagnose(report)) report.findings.push_back(std::move(*found));
}

}  // namespace pdsim::scenarios
