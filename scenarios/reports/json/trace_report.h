// The run as a Chrome / Perfetto trace (Trace Event Format): pid is the node, tid the rank, times in microseconds.
//
//   X completed calls, B without E unfinished ones, b/e collectives that were launched and waited for later,
//   s/f messages, i faults, the first divergence and the point of no return (these two with the diagnosis as arguments), M names
//   C   for each rank: bytes that it sent and that have not arrived, and its open calls
//   otherData says how many messages and calls were left out
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

std::string render_trace(const Report& report);

}  // namespace pdsim::scenarios
