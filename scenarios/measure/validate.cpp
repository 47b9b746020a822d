#include "scenarios/measure/validate.h"

#include <algorithm>

namespace pdsim::scenarios {
namespace {

template <class Field>
std::int64_t total(const ValidationResult& result, Field field) {
  std::int64_t sum = 0;
  for (const auto& [group, tally] : result.groups) sum += tally.*field;
  return sum;
}

}  // namespace

std::int64_t Validated::wrong() const { return total(result, &ValidationTally::wrong); }
std::int64_t Validated::cases() const { return total(result, &ValidationTally::cases); }
std::int64_t Validated::skipped() const { return total(result, &ValidationTally::skipped); }

std::int64_t Validated::max_ulp() const {
  std::int64_t most = 0;
  for (const auto& [group, tally] : result.groups) most = std::max(most, tally.max_ulp);
  return most;
}

Result<Validated> validate(const TrialWorld& world, const ValidationRequest& request) {
  const RankProgram program = validation_program(request);
  const Result<RunRecord> run = run_trial(world, request, program);
  if (!run.ok()) return run.error();
  return Validated{validation_result(run->ranks), explain_failure(world, *run)};
}

}  // namespace pdsim::scenarios
