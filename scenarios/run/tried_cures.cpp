#include "scenarios/run/tried_cures.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr std::int64_t most_events = 2'000'000;  // of the run that is repeated
constexpr std::size_t most_runs = 12;

std::int64_t collectives_of(const RunRecord& run) {
  std::int64_t count = 0;
  for (const RankResult& result : run.ranks)
    count += std::count_if(result.log.calls.begin(), result.log.calls.end(),
                           [](const Call& c) { return c.layer == Layer::collective; });
  return count;
}

class Trials {
 public:
  Trials(Report& report, const WorldRow& world, const RunOptions& options)
      : report_(report), world_(world), options_(options) {
    options_.record_messages = options_.trace = false;
  }

  void run() {
    for (Diagnosis& finding : report_.findings) {
      std::vector<Cure> further;
      for (Cure& cure : finding.cures)
        if (cure.change && runs_ < most_runs) try_one(cure, further);
      finding.cures.insert(finding.cures.end(), further.begin(), further.end());
    }
    for (Diagnosis& finding : report_.findings) take_back_fix(finding);
    for (Diagnosis& finding : report_.findings)
      std::stable_sort(finding.cures.begin(), finding.cures.end(), [](const Cure& a, const Cure& b) {
        return std::tuple(!cures(a), price(a)) < std::tuple(!cures(b), price(b));
      });
  }

 private:
  static std::pair<std::int64_t, Time> price(const Cure& cure) {
    return cures(cure) ? std::pair(cure.tried->collectives, cure.tried->elapsed) : std::pair(std::int64_t{0}, Time{});
  }

  // Absent: no run could be made, or it is the world that failed.
  std::optional<Report> with(const Cure& cure, Scenario& changed) {
    ++runs_;
    cure.change(changed);
    changed.expect = {};
    changed.real.clear();
    Result<Report> report = run_scenario(changed, world_, options_);
    if (!report.ok()) return std::nullopt;
    return std::move(*report);
  }

  static Tried result_of(const Report& report) {
    Tried result;
    result.outcome = report.outcome;
    if (report.diagnosis() != nullptr) result.diagnosis = report.diagnosis()->id;
    result.elapsed = report.run.elapsed;
    result.collectives = collectives_of(report.run);
    return result;
  }

  void try_one(Cure& cure, std::vector<Cure>& further) {
    Scenario changed = *report_.scenario;
    const std::optional<Report> report = with(cure, changed);
    cure.tried = report ? result_of(*report) : Tried{Outcome::error, {}, {}};
    if (!report || report->diagnosis() == nullptr || is_found(report->diagnosis()->id)) return;
    for (const Cure& next : report->diagnosis()->cures) {
      if (!next.is_fix || !next.change || runs_ >= most_runs) continue;
      Cure both{fmt::format("{}; {}", cure.what, next.what),
                [first = cure.change, then = next.change](Scenario& scenario) {
                  first(scenario);
                  then(scenario);
                },
                std::nullopt, cure.is_fix, cure.with};
      Scenario twice = *report_.scenario;
      const std::optional<Report> after = with(both, twice);
      both.tried = after ? result_of(*after) : Tried{Outcome::error, {}, {}};
      further.push_back(std::move(both));
    }
  }

  bool is_found(const std::string& id) const {
    return std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Diagnosis& d) { return d.id == id; });
  }

  // Whether it cures, alone or together with what another finding proposes.
  bool helps(const Diagnosis& finding) const {
    const auto own = [](const Cure& c) { return c.is_fix && cures(c); };
    const auto joined = [&](const Cure& c) { return c.with == finding.id && cures(c); };
    return std::any_of(finding.cures.begin(), finding.cures.end(), own) ||
           std::any_of(report_.findings.begin(), report_.findings.end(), [&](const Diagnosis& d) {
             return std::any_of(d.cures.begin(), d.cures.end(), joined);
           });
  }

  void take_back_fix(Diagnosis& finding) const {
    const auto fix = std::find_if(finding.cures.begin(), finding.cures.end(),
                                  [](const Cure& c) { return c.is_fix && c.tried.has_value(); });
    if (fix == finding.cures.end() || helps(finding)) return;
    const Tried& tried = *fix->tried;
    if (tried.diagnosis != finding.id && !tried.diagnosis.empty() && is_found(tried.diagnosis)) return;
    const std::string to = tried.diagnosis.empty() ? std::string(name_of(tried.outcome)) : tried.diagnosis;
    const std::string note = fmt::format("{}: not enough alone; tried here, it leads to {}", fix->what, to);
    if (finding.fix_lines.empty()) {
      finding.fix = note;
      return;
    }
    finding.fix = finding.fix_lines.front();
    finding.fix.is_alternative = false;
    finding.fix_lines.erase(finding.fix_lines.begin());
    finding.fix_lines.push_back(note);
  }

  Report& report_;
  const WorldRow& world_;
  RunOptions options_;
  std::size_t runs_ = 0;
};

}  // namespace

void try_cures(Report& report, const WorldRow& world, const RunOptions& options) {
  if (world.kind != WorldKind::simulated || report.scenario == nullptr || report.run.events > most_events) return;
  Trials(report, world, options).run();
}

}  // namespace pdsim::scenarios
