// The run as a Chrome / Perfetto trace (Trace Event Format): pid is the node, tid the rank, times in microseconds.
//
//   X completed calls, B without E what never finished, b/e collectives that were launched and left to later,
//   s/f messages, i faults, C bytes in flight, M names
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

std::string render_trace(const Report& report);

}  // namespace pdsim::scenarios
