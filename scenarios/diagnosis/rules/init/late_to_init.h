// Ranks that gave up in init while another was at work and had not called it yet, or had ended without it.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <optional>

namespace pdsim::scenarios::diagnoses {

// Like delayed_enter, for waits in the store.
std::optional<Diagnosis> late_to_init(const Report& report);

// Like missing_call: ranks that ended without calling init, where others wait for them or gave up.
std::optional<Diagnosis> absent_from_init(const Report& report);

}  // namespace pdsim::scenarios::diagnoses
