#include "scenarios/diagnosis/findings.h"

#include "scenarios/diagnosis/analysis/divergence.h"
#include "scenarios/diagnosis/analysis/recorded_difference.h"
#include "scenarios/diagnosis/analysis/wait_circle.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/diagnosis/rules/calls/recorded_calls.h"
#include "scenarios/diagnosis/rules/whereabouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
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

// A hang is explained in a walk over all calls of all ranks; of tens of thousands of each the oldest tell what there is to tell.
std::size_t most_explained(const Report& report) {
  constexpr std::size_t most_steps = 1 << 24, least = 32;
  std::size_t steps = 1;
  for (const RankResult& rank : report.run.ranks) steps += 1 + rank.log.calls.size();
  return std::max(least, most_steps / steps);
}

// Calls that were mixed up without a failure are told before the hangs that came after.
void add_silent_mix(Report& report) {
  if (!report.recorded || !diagnoses::is_silent_mix(*report.recorded)) return;
  report.hang.reset();
  std::optional<Diagnosis> found = diagnosis_by(report, *diagnosis_named("collective-mismatch"));
  if (!found) found = diagnosis_by(report, *diagnosis_named("missing-call"));
  const auto is_told = [&](const Diagnosis& d) { return found->headline == d.headline; };
  if (found && std::none_of(report.findings.begin(), report.findings.end(), is_told) && !is_known(report.findings, *found))
    report.findings.insert(report.findings.begin(), std::move(*found));
}

// Where the ranks of each group went apart first: hangs of several groups have causes of their own.
class OwnDifferences {
 public:
  explicit OwnDifferences(const Report& report)
      : divergence_(report.divergence), recorded_(report.recorded), several_(report.hangs.size() > 1) {
    if (!several_) return;
    for (Divergence& d : first_divergences(report.run)) divergences_.emplace(d.group, std::move(d));
    for (RecordedDifference& d : recorded_differences(report.run)) differences_.emplace(d.group, std::move(d));
  }

  // Those of the group in whose call the hang's ranks wait; where it has none, those of the job.
  void put_into(Report& report) const {
    report.divergence = divergence_;
    report.recorded = recorded_;
    const Call* call = several_ ? diagnoses::common_call(report, report.hang->nearest) : nullptr;
    if (call == nullptr) return;
    const auto divergence = divergences_.find(call->group);
    if (divergence != divergences_.end()) report.divergence = divergence->second;
    const auto difference = differences_.find(call->group);
    if (difference != differences_.end()) report.recorded = difference->second;
  }

  void restore(Report& report) const {
    report.divergence = divergence_;
    report.recorded = recorded_;
  }

 private:
  std::optional<Divergence> divergence_;
  std::optional<RecordedDifference> recorded_;
  bool several_;
  std::map<std::string, Divergence> divergences_;
  std::map<std::string, RecordedDifference> differences_;
};

void explain_hangs(Report& report) {
  const std::size_t most = most_explained(report);
  report.unexplained_hangs = report.hangs.size() - std::min(report.hangs.size(), most);
  report.hangs.resize(report.hangs.size() - report.unexplained_hangs);
  const OwnDifferences own(report);
  for (const Hang& hang : report.hangs) {
    report.hang = hang;
    own.put_into(report);
    report.cycle = hang.end == HangEnd::circle ? cycle_of(report, hang) : std::vector<Rank>{};
    std::optional<Diagnosis> found = diagnose(report);
    if (found && is_known(report.findings, *found)) {  // what went apart is told; this hang may have an end of its own
      report.divergence = std::nullopt;
      report.recorded = std::nullopt;
      found = diagnose(report);
    }
    if (!found || is_known(report.findings, *found)) continue;
    report.findings.push_back(std::move(*found));
  }
  own.restore(report);
  add_silent_mix(report);
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

// --- the order in which they happened

namespace {

struct Earlier {
  std::string_view cause, symptom;
};
// Values that are wrong on some ranks decide what these do next. Calls that were left out or made once more shift the wrapper's own.
constexpr std::array earlier{
    Earlier{"result-elsewhere", "collective-mismatch"},
    Earlier{"result-elsewhere", "missing-call"},
    Earlier{"result-elsewhere", "parameter-mismatch"},
    Earlier{"collective-mismatch", "unused-parameters"},
    Earlier{"collective-mismatch", "marked-ready-twice"},
    Earlier{"missing-call", "unused-parameters"},
    Earlier{"missing-call", "marked-ready-twice"},
    // A rank that went ahead waits for a key whose writer still waits for it in a call.
    Earlier{"missing-call", "store-key-missing"},
    Earlier{"collective-mismatch", "store-key-missing"},
};

// The changes of both, one after the other.
void join_cures(Diagnosis& first, const Diagnosis& second) {
  std::vector<Cure> together;
  for (const Cure& a : first.cures)
    for (const Cure& b : second.cures)
      if (a.change && b.change)
        together.push_back({fmt::format("together: {}; {}", a.what, b.what),
                            [change = a.change, then = b.change](Scenario& scenario) {
                              change(scenario);
                              then(scenario);
                            },
                            std::nullopt, false, b.is_fix ? second.id : std::string()});
  first.cures.insert(first.cures.end(), together.begin(), together.end());
}

}  // namespace

std::vector<Diagnosis> in_order(const Report& report, Diagnosis found) {
  std::vector<Diagnosis> all;
  for (const Earlier& row : earlier) {
    if (row.symptom != found.id) continue;
    std::optional<Diagnosis> cause = diagnosis_by(report, *diagnosis_named(row.cause));
    // A call that is missing because a wrapper waits is not a cause; only differences between the programs' own calls are.
    if (!cause || (row.cause != "result-elsewhere" && cause->cures.empty())) continue;
    join_cures(*cause, found);
    all.push_back(std::move(*cause));
  }
  all.push_back(std::move(found));
  return all;
}

}  // namespace pdsim::scenarios
