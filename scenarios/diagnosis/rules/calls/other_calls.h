// The finding that the programs of some ranks make other calls than those of most, recognised by the places of the calls.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <optional>

namespace pdsim::scenarios::diagnoses {

// What the record shows of it: calls that met calls of other places, or only one that somebody never made.
enum class Face : std::uint8_t { met, missing };

// Nothing when the schedules agree, or the difference has the other face.
std::optional<Diagnosis> other_calls(const Report& report, Face face);

}  // namespace pdsim::scenarios::diagnoses
