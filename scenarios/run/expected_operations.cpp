#include "scenarios/run/expected_operations.h"

#include "scenarios/records/log_view.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pdsim::scenarios {
namespace {

// The newest run of the operation with this label, or else of any with this name.
const Call* newest_run(const Scenario& scenario, const RankLog& log, const std::string& of) {
  const Operation* op = scenario.labelled(of);
  const auto found = std::find_if(log.calls.rbegin(), log.calls.rend(), [&](const Call& call) {
    if (call.layer != Layer::program) return false;
    if (op == nullptr) return call.name == of;
    return call.name == op->name && call.site.line == op->mark.line && call.site.column == op->mark.column;
  });
  return found == log.calls.rend() ? nullptr : &*found;
}

bool is_inside(const RankLog& log, const Call& call, const Call& run) {
  for (const Call* around = call_by_id(log, call.parent); around != nullptr; around = call_by_id(log, around->parent))
    if (around->id == run.id) return true;
  return false;
}

std::vector<std::string> collectives_in(const RankLog& log, const Call& run) {
  std::vector<std::string> names;
  for (const Call& call : log.calls)
    if (call.layer == Layer::collective && is_inside(log, call, run)) names.push_back(call.name);
  return names;
}

std::string list(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<OperationCheck> look_at(const Scenario& scenario, const RankLog& log, const std::string& of) {
  const Call* run = newest_run(scenario, log, of);
  if (run == nullptr) return std::nullopt;
  OperationCheck check{of, log.rank, std::nullopt, collectives_in(log, *run)};
  if (!is_open_at(*run, Time::max())) check.took = run->finished - run->issued;
  return check;
}

void compare(Report& report, const Expect::OperationRun& expected, const OperationCheck& got, bool exact) {
  const std::string who = fmt::format("{} of rank {}", expected.of, got.rank);
  if (expected.collectives && got.collectives != **expected.collectives)
    report.failures.push_back({fmt::format("collectives in {}: {}", who, list(**expected.collectives)),
                               list(got.collectives), expected.collectives->mark});
  if (!expected.took) return;
  if (!got.took)
    return report.failures.push_back(
        {fmt::format("a time of {}", who), "the rank is still in it", expected.took->mark});
  for (Failure& failure : misses(fmt::format("{} took", who), *expected.took, *got.took, exact))
    report.failures.push_back(std::move(failure));
}

}  // namespace

std::vector<Failure> misses(const std::string& what, const Expect::TimeRange& range, Time got, bool exact) {
  std::vector<Failure> failures;
  const auto off = [&](const char* key, Time bound) {
    const bool alike = to_string(bound) == to_string(got);  // four digits may not tell them apart
    const auto text = [alike](Time t) { return alike ? fmt::format("{}ps", t.ps) : to_string(t); };
    failures.push_back({fmt::format("{}: {} {}", what, key, text(bound)), text(got), range.mark});
  };
  if (range.min && got < *range.min) off("min", *range.min);
  if (range.max && got > *range.max) off("max", *range.max);
  if (range.near && exact) {
    const double gap = std::abs(got.seconds() - range.near->seconds());
    if (gap > range.within * range.near->seconds()) off("near", *range.near);
  }
  return failures;
}

void check_operations(Report& report, const Expect& expect, bool exact) {
  for (const Expect::OperationRun& expected : expect.operations)
    for (const RankResult& result : report.run.ranks) {
      if (!expected.rank.contains(result.log.rank)) continue;
      const std::optional<OperationCheck> got = look_at(*report.scenario, result.log, expected.of);
      if (got) {
        compare(report, expected, *got, exact);
        report.operations.push_back(*got);
      } else {
        report.failures.push_back({fmt::format("a run of {}", expected.of),
                                   fmt::format("rank {} never called it", result.log.rank), expected.mark});
      }
    }
}

}  // namespace pdsim::scenarios
