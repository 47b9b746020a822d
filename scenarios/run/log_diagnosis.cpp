#include "scenarios/run/log_diagnosis.h"

#include "scenarios/run/analyse.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pdsim::scenarios {

LogDiagnosis diagnose_logs(const logs::LogFacts& facts, const std::string& name) {
  LogDiagnosis done;
  const LoggedGroups groups = groups_of(facts);
  LogRecord record = record_of(facts, groups);
  std::vector<Diagnosis> findings = findings_of_facts(facts, groups, record);
  done.scenario = std::make_unique<Scenario>();
  done.scenario->name = name;
  done.scenario->world.spec.ranks_per_node = std::max(1, static_cast<int>(record.run.ranks.size()));
  if (record.run.ranks.empty()) {
    done.report.scenario = done.scenario.get();
    done.report.world = RunWorld(pytorch_world);
  } else {
    done.report = analyse(*done.scenario, RunRecord(record.run), RunWorld(pytorch_world));
  }
  if (!findings.empty()) {
    done.report.findings = std::move(findings);
  } else {
    std::erase_if(done.report.findings, [&](const Diagnosis& d) { return needs_all_ranks(d, record); });
  }
  if (done.report.findings.empty())
    if (std::optional<Diagnosis> found = own_exception(record)) done.report.findings.push_back(std::move(*found));
  if (done.report.findings.empty())
    if (std::optional<Diagnosis> found = unknown_process(facts)) done.report.findings.push_back(std::move(*found));
  name_exceptions(record, done.report.findings);
  done.story = story_of(facts, groups, record, done.report.findings);
  return done;
}

}  // namespace pdsim::scenarios
