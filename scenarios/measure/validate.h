// Validates one collective with one algorithm in a world.
#pragma once

#include "core/measure/validation.h"
#include "scenarios/measure/trial_world.h"

#include <string>

namespace pdsim::scenarios {

struct Validated {
  ValidationResult result;
  std::string failure;  // why a case did not run, as a report; empty: all did
  std::int64_t wrong() const;
  std::int64_t cases() const;
  std::int64_t skipped() const;
  std::int64_t max_ulp() const;
};

// Errors: those that the algorithm did not cause (unavailable, limit_exceeded, io_error, cancelled).
Result<Validated> validate(const TrialWorld& world, const ValidationRequest& request);

}  // namespace pdsim::scenarios
