// What a step asks of each device: memory and work, of DataParallel's devices or of DDP's ranks.
#pragma once

#include "scenarios/engine/report.h"

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Note of the last step of a train: device, rows, parameters, gradients, optimizer, activations (bytes), computing, step
// (picoseconds).
inline constexpr std::string_view device_load_note = "device-load";

// A line for each device; empty where the file has no `data_parallel`.
std::string devices_section(const Report& report);

}  // namespace pdsim::scenarios
