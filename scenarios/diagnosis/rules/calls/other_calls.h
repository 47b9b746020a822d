// The finding that some ranks' programs make other calls than those of most, recognised by the places of the calls.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <optional>

namespace pdsim::scenarios::diagnoses {

// How the difference shows in the record: calls that met calls of other places, or only a call that some rank never
// made.
enum class Face : std::uint8_t { met, missing };

// Nothing when the schedules agree, or the difference has the other face.
std::optional<Diagnosis> other_calls(const Report& report, Face face);

}  // namespace pdsim::scenarios::diagnoses
