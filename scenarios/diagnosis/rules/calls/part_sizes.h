// The finding that the ranks' sends in an all_to_all do not match the receives they make room for.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>

namespace pdsim::scenarios::diagnoses {

// Looks at the report's divergence; nothing where that is another call, or its parts match.
std::optional<Diagnosis> part_mismatch(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
