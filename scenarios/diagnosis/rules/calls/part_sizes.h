// The finding that what the ranks send in an all_to_all is not what they make room for.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>

namespace pdsim::scenarios::diagnoses {

// At the report's divergence; nothing where that is another call, or its parts fit.
std::optional<Diagnosis> part_mismatch(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
